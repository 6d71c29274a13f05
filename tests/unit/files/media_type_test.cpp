#include "media_type.hpp"

#include "base64.hpp"

#include <gtest/gtest.h>

namespace bawn::files {
namespace {

using namespace std::string_view_literals;

TEST(MediaType, KnowsPicturesByTheirFirstBytes) {
  for (const auto& [bytes, mime] : {std::pair{"\x89PNG\r\n\x1A\nrest"sv, "image/png"sv},
                                    {"\xFF\xD8\xFF\xE0"sv, "image/jpeg"sv},
                                    {"GIF89a.."sv, "image/gif"sv},
                                    {"RIFF\1\2\3\4WEBPVP8 "sv, "image/webp"sv}}) {
    EXPECT_EQ(media_type_of(bytes).mime, mime);
    EXPECT_TRUE(media_type_of(bytes).image);
  }
}

TEST(MediaType, NamesWhatIsNoPicture) {
  EXPECT_EQ(media_type_of("%PDF-1.7"sv).mime, "application/pdf");
  EXPECT_FALSE(media_type_of("%PDF-1.7"sv).image);
  EXPECT_EQ(media_type_of("\x7F\x45LF\2"sv).mime, "application/x-elf");
  EXPECT_EQ(media_type_of("\0\1\2"sv).mime, "application/octet-stream");
  EXPECT_EQ(media_type_of(""sv).mime, "application/octet-stream");
}

TEST(Base64, PadsAsRfc4648) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("\xFF\xFE\xFD"), "//79");
}

}  // namespace
}  // namespace bawn::files
