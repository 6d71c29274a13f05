#include "image_size.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bawn::files {
namespace {

using namespace std::string_literals;

std::string png(char width, char height) {
  return "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0"s + width + "\0\0\0"s + height +
         "\x08\x02\0\0\0crc!\0\0\0\0IEND\xAE\x42\x60\x82"s;
}

// SOI, an APP0 segment, a fill byte, SOF0, the start of a scan, EOI.
const std::string kJpeg =
    "\xFF\xD8\xFF\xE0\0\x06JFIF\xFF\xFF\xC0\0\x0B\x08\0\x07\0\x09\x01\x01\x11\0\xFF\xDA\0\x02zz\xFF\xD9"s;
const std::string kGif = "GIF89a\x05\0\x06\0\x80\0\0RGBRGB\x2C\0\0\0\0\x3B"s;
const std::string kLossy = "RIFF\x18\0\0\0WEBPVP8 \x0A\0\0\0\0\0\0\x9D\x01\x2A\x03\0\x04\0zz"s;
const std::string kLossless = "RIFF\x18\0\0\0WEBPVP8L\x05\0\0\0\x2F\x02\xC0\0\0zzzzzzz"s;
const std::string kExtended = "RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x0B\0\0\x0C\0\0"s;

std::string size_of(const std::string& bytes) {
  const auto size = image_size(bytes);
  return size ? std::to_string(size->width) + "x" + std::to_string(size->height) : "none";
}

TEST(ImageSize, IsReadFromEachKind) {
  EXPECT_EQ(size_of(png('\x0A', '\x0B')), "10x11");
  EXPECT_EQ(size_of(kJpeg), "9x7");
  EXPECT_EQ(size_of(kGif), "5x6");
  EXPECT_EQ(size_of(kLossy), "3x4");
  EXPECT_EQ(size_of(kLossless), "3x4");
  EXPECT_EQ(size_of(kExtended), "12x13");
}

TEST(ImageSize, IsNoneWhereTheEndIsMissing) {
  for (const std::string& whole : {png(1, 1), kJpeg, kGif, kLossy, kLossless, kExtended}) {
    ASSERT_NE(size_of(whole), "none");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_EQ(size_of(whole.substr(0, size)), "none") << whole.substr(0, 8) << " " << size;
    }
  }
}

TEST(ImageSize, TheEndOfAThumbnailIsNotThePictures) {
  const std::string thumbnail = "\xFF\xE1\0\x06\xFF\xD8\xFF\xD9"s;
  const std::string whole = kJpeg.substr(0, 2) + thumbnail + kJpeg.substr(2);
  EXPECT_EQ(size_of(whole), "9x7");
  EXPECT_EQ(size_of(whole.substr(0, whole.size() - 2)), "none");
}

TEST(ImageSize, IsNoneForNoPixelsAndForTextThatBeginsAlike) {
  EXPECT_EQ(size_of(png(0, 1)), "none");
  EXPECT_EQ(size_of(png(1, 0)), "none");
  EXPECT_EQ(size_of("GIF89a is a format of pictures;"), "none");
  EXPECT_EQ(size_of("RIFF is a format WEBP builds on, and so do others"), "none");
  EXPECT_EQ(size_of("plain text that is long enough"), "none");
}

TEST(ImageSize, LooksAtNothingBeyondTheEnd) {
  std::mt19937 random(1);
  for (const std::string& whole : {png(1, 1), kJpeg, kGif, kLossy, kLossless, kExtended}) {
    for (int i = 0; i < 2'000; ++i) {
      std::string bytes = whole;
      for (int changes = 0; changes < 4; ++changes) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      const auto size = image_size(bytes);  // a sanitizer speaks up, or the sizes are none
      EXPECT_TRUE(!size || (size->width != 0 && size->height != 0));
    }
  }
}

}  // namespace
}  // namespace bawn::files
