/// \file
/// A file's content as a short name.
#pragma once

#include <string>
#include <string_view>

namespace bawn::files {

/// "sha256:" and 64 hexadecimal digits of the file's bytes.
[[nodiscard]] std::string etag_of(std::string_view bytes);

}  // namespace bawn::files
