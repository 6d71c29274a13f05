/// \file
#pragma once

#include <cstddef>
#include <string_view>

namespace bawn::contract {

/// How many line feeds there are, sixteen bytes at a time. Threads: thread-safe.
[[nodiscard]] std::size_t count_newlines(std::string_view text) noexcept;

}  // namespace bawn::contract
