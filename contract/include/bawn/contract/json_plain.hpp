/// \file
/// The bytes that JSON text and its value have in common. Most of a long string is such bytes, and
/// readers and writers that pass over them sixteen at a time take a tenth of the time.
#pragma once

#include <cstddef>
#include <string_view>

namespace bawn::contract {

/// How many bytes at the start of `text` stand for themselves in a JSON string: ASCII from the
/// space on without the quote and the backslash. Whatever follows them needs a look.
///
/// Threads: thread-safe.
/// Source: RFC 8259, section 7.
[[nodiscard]] std::size_t plain_json_length(std::string_view text) noexcept;

/// How many bytes stand before the quote that ends the string which `text` is the inside of; the
/// size of `text` where it has no end. What stands there is not checked.
///
/// Threads: thread-safe.
[[nodiscard]] std::size_t json_string_size(std::string_view text) noexcept;

}  // namespace bawn::contract
