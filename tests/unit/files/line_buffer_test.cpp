#include "line_buffer.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bawn::files {
namespace {

TEST(LineBuffer, HoldsWhatAPlainListWould) {
  std::mt19937 random(7);
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const std::vector<std::string> words = {"a\n", "b\n", "c\n", "d\n"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string_view> plain;
    for (std::size_t i = upto(20); i > 0; --i) {
      plain.emplace_back(words[upto(3)]);
    }
    LineBuffer buffer(plain);
    for (int change = 0; change < 20; ++change) {
      const std::size_t at = upto(plain.size());
      const std::size_t count = upto(plain.size() - at);
      std::vector<LineBuffer::Line> fresh;
      for (std::size_t i = upto(4); i > 0; --i) {
        fresh.push_back({.text = words[upto(3)], .taken = true});
      }
      buffer.replace(at, count, fresh);
      const auto from = plain.begin() + static_cast<std::ptrdiff_t>(at);
      plain.erase(from, from + static_cast<std::ptrdiff_t>(count));
      for (std::size_t i = 0; i < fresh.size(); ++i) {
        plain.insert(plain.begin() + static_cast<std::ptrdiff_t>(at + i), fresh[i].text);
      }
      ASSERT_EQ(buffer.size(), plain.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        ASSERT_EQ(buffer[i].text, plain[i]) << i;
      }
    }
  }
}

TEST(LineBuffer, MovesOnlyWhatLiesBetweenChanges) {
  const std::vector<std::string_view> lines(1000, "x\n");
  LineBuffer buffer(lines);
  EXPECT_EQ(buffer.replace(500, 1, {{.text = "y\n"}}), 500U);
  EXPECT_EQ(buffer.replace(510, 1, {{.text = "y\n"}, {.text = "z\n"}}), 9U);
  EXPECT_EQ(buffer.replace(500, 1, {}), 12U);
  EXPECT_EQ(buffer.size(), 1000U);
}

}  // namespace
}  // namespace bawn::files
