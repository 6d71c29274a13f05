/// \file
/// Bytes as base64 (RFC 4648 section 4, with padding).
#pragma once

#include <string>
#include <string_view>

namespace bawn::files {

[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace bawn::files
