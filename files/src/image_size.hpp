/// \file
/// Whether a file that begins like a picture is one: hosts hand pictures on to models whose
/// services refuse a whole conversation over one that is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bawn::files {

/// In pixels, neither of them 0.
struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// The size of a PNG, JPEG, GIF or WebP picture. None for another file, and for one whose head is
/// damaged or whose end is missing; what lies between is not looked at.
///
/// Source: PNG (ISO/IEC 15948) 5, 11.2; JPEG (ITU-T T.81) B; GIF89a 17-20, 27; WebP (RFC 9649) 2.
[[nodiscard]] std::optional<ImageSize> image_size(std::string_view bytes) noexcept;

}  // namespace bawn::files
