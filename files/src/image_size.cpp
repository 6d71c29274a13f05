#include "image_size.hpp"

#include <cstddef>

namespace bawn::files {

namespace {

using namespace std::string_view_literals;

/// Numbers of a file; those beyond its end are 0.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::uint32_t byte(std::size_t at) const noexcept {
    return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0U;
  }
  [[nodiscard]] std::uint32_t big16(std::size_t at) const noexcept {
    return byte(at) << 8U | byte(at + 1);
  }
  [[nodiscard]] std::uint32_t big32(std::size_t at) const noexcept {
    return big16(at) << 16U | big16(at + 2);
  }
  [[nodiscard]] std::uint32_t little16(std::size_t at) const noexcept {
    return byte(at) | byte(at + 1) << 8U;
  }
  [[nodiscard]] std::uint32_t little24(std::size_t at) const noexcept {
    return little16(at) | byte(at + 2) << 16U;
  }
  [[nodiscard]] std::uint32_t little32(std::size_t at) const noexcept {
    return little16(at) | little16(at + 2) << 16U;
  }

 private:
  std::string_view bytes_;
};

std::optional<ImageSize> sized(std::uint32_t width, std::uint32_t height) noexcept {
  return width != 0 && height != 0 ? std::optional(ImageSize{width, height}) : std::nullopt;
}

std::optional<ImageSize> png_size(std::string_view bytes) noexcept {
  const bool whole =
      bytes.substr(12, 4) == "IHDR" && bytes.rfind("IEND\xAE\x42\x60\x82"sv) != bytes.npos;
  const Numbers at(bytes);
  return whole ? sized(at.big32(16), at.big32(20)) : std::nullopt;
}

/// Walks the segments to the one that begins a frame.
std::optional<ImageSize> jpeg_size(std::string_view bytes) noexcept {
  const std::size_t end = bytes.rfind("\xFF\xD9"sv);
  if (end == bytes.npos) {
    return std::nullopt;
  }
  const Numbers at(bytes);
  for (std::size_t segment = 2; segment + 9 < bytes.size() && at.byte(segment) == 0xFF;) {
    const std::uint32_t marker = at.byte(segment + 1);
    if (marker == 0xFF) {  // fill bytes
      ++segment;
      continue;
    }
    // SOF0 to SOF15 without DHT, JPG and DAC, which have numbers between them.
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
      // A thumbnail in an earlier segment has an end of its own; the picture's is behind its frame.
      return end > segment ? sized(at.big16(segment + 7), at.big16(segment + 5)) : std::nullopt;
    }
    segment += 2 + at.big16(segment + 2);
  }
  return std::nullopt;
}

std::optional<ImageSize> gif_size(std::string_view bytes) noexcept {
  constexpr std::size_t kHead = 13;
  const Numbers at(bytes);
  const std::uint32_t packed = at.byte(10);
  const std::size_t colours = (packed & 0x80U) != 0 ? std::size_t{3} << ((packed & 7U) + 1) : 0;
  const std::uint32_t block = at.byte(kHead + colours);
  const bool whole = (block == 0x21 || block == 0x2C) && bytes.ends_with('\x3B');
  return whole ? sized(at.little16(6), at.little16(8)) : std::nullopt;
}

std::optional<ImageSize> webp_size(std::string_view bytes) noexcept {
  const Numbers at(bytes);
  const std::string_view chunk = bytes.substr(12, 4);
  if (bytes.size() < 30 || at.little32(4) > bytes.size() - 8) {
    return std::nullopt;
  }
  if (chunk == "VP8X") {
    return sized(at.little24(24) + 1, at.little24(27) + 1);
  }
  if (chunk == "VP8L") {
    const std::uint32_t bits = at.little32(21);
    return at.byte(20) == 0x2F ? sized((bits & 0x3FFFU) + 1, (bits >> 14U & 0x3FFFU) + 1)
                               : std::nullopt;
  }
  const bool key_frame = chunk == "VP8 " && bytes.substr(23, 3) == "\x9D\x01\x2A";
  return key_frame ? sized(at.little16(26) & 0x3FFFU, at.little16(28) & 0x3FFFU) : std::nullopt;
}

}  // namespace

std::optional<ImageSize> image_size(std::string_view bytes) noexcept {
  if (bytes.size() < 14) {
    return std::nullopt;
  }
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) {
    return bytes.size() < 33 ? std::nullopt : png_size(bytes);
  }
  if (bytes.starts_with("\xFF\xD8\xFF"sv)) {
    return jpeg_size(bytes);
  }
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) {
    return gif_size(bytes);
  }
  const bool webp =
      bytes.size() >= 16 && bytes.starts_with("RIFF"sv) && bytes.substr(8, 4) == "WEBP";
  return webp ? webp_size(bytes) : std::nullopt;
}

}  // namespace bawn::files
