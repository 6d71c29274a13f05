/// \file
/// What a file that is no text probably is, by its first bytes.
#pragma once

#include <string_view>

namespace bawn::files {

struct MediaType {
  std::string_view mime;  ///< "application/octet-stream" when nothing fits
  std::string_view name;  ///< for a sentence: "a PNG image", "binary data"
  bool image = false;     ///< one that is shown as a picture: PNG, JPEG, GIF, WebP
};

/// Looks at the first bytes only; the file's name has no say.
[[nodiscard]] MediaType media_type_of(std::string_view bytes) noexcept;

}  // namespace bawn::files
