/// \file
/// Whether bytes are UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace bawn::mcp {

/// The length of the well-formed character at the start of `bytes` (RFC 3629: no overlong forms, no
/// surrogates, at most U+10FFFF); 0 when there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view bytes) noexcept;

}  // namespace bawn::mcp
