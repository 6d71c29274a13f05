#include "output_buffer.hpp"

#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace bawn::shell {
namespace {

std::string numbers(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) {
    text += std::to_string(i) + "\n";
  }
  return text;
}

TEST(OutputBuffer, KeepsShortOutputWholeAndWithoutAFile) {
  const test::TempDir dir;
  OutputBuffer buffer(1024, 1 << 20, dir.path());
  buffer.append("one\n");
  buffer.append("two");
  EXPECT_EQ(buffer.bytes(), 7U);
  EXPECT_EQ(buffer.lines(), 2U);
  EXPECT_EQ(buffer.newlines(), 1U);
  EXPECT_EQ(buffer.stored(), 7U);
  EXPECT_EQ(buffer.read(0, 100), "one\ntwo");
  EXPECT_EQ(buffer.read(4, 2), "tw");
  EXPECT_EQ(buffer.read(7, 1), "");
}

TEST(OutputBuffer, ReadsEveryOffsetOfALongOutput) {
  const test::TempDir dir;
  const std::string all = numbers(0, 5000);
  OutputBuffer buffer(1024, 1 << 20, dir.path());
  for (std::size_t at = 0; at < all.size(); at += 700) {
    buffer.append(std::string_view(all).substr(at, 700));
  }
  EXPECT_EQ(buffer.bytes(), all.size());
  EXPECT_EQ(buffer.lines(), 5000U);
  EXPECT_EQ(buffer.stored(), all.size());
  for (std::size_t at = 0; at < all.size(); at += 137) {
    EXPECT_EQ(buffer.read(at, 300), all.substr(at, 300)) << at;
  }
  EXPECT_EQ(buffer.read(0, all.size()), all);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path())) << "the file has no name";
}

TEST(OutputBuffer, CountsLinesInPiecesOfEveryLength) {
  OutputBuffer buffer(1024, 0, "");
  std::uint64_t newlines = 0;
  for (std::size_t length = 0; length < 700; ++length) {
    std::string piece(length, 'x');
    for (std::size_t at = length % 7; at < length; at += 1 + length % 5) {
      piece[at] = '\n';
      ++newlines;
    }
    buffer.append(piece);
    ASSERT_EQ(buffer.newlines(), newlines) << length;
  }
  const std::size_t many = 64 * 256 * 3 + 5;  // more than one byte can count
  buffer.append(std::string(many, '\n'));
  EXPECT_EQ(buffer.newlines(), newlines + many);
}

TEST(OutputBuffer, StopsAtTheDiskCapAndKeepsTheTail) {
  const test::TempDir dir;
  const std::string all = numbers(0, 5000);
  OutputBuffer buffer(1024, 4096, dir.path());
  buffer.append(all);
  EXPECT_EQ(buffer.bytes(), all.size());
  EXPECT_EQ(buffer.stored(), 4096U);
  EXPECT_EQ(buffer.read(4000, 1000), all.substr(4000, 96));
  EXPECT_EQ(buffer.read(8000, 10), "") << "in the gap";
  EXPECT_EQ(buffer.read(all.size() - 100, 100), all.substr(all.size() - 100));
}

TEST(OutputBuffer, WorksWithoutADirectory) {
  OutputBuffer buffer(64, 1 << 20, "");
  buffer.append(std::string(1000, 'a') + "\n");
  EXPECT_EQ(buffer.bytes(), 1001U);
  EXPECT_EQ(buffer.lines(), 1U);
  EXPECT_EQ(buffer.stored(), 32U);
  EXPECT_EQ(buffer.read(1000, 1), "\n");
}

TEST(OutputBuffer, FilesShareABudgetAndGiveItBack) {
  const test::TempDir spool;
  const auto budget = std::make_shared<SpoolBudget>(1500);
  {
    OutputBuffer first(100, 1 << 20, spool.path(), budget);
    first.append(std::string(1000, 'a'));
    EXPECT_EQ(budget->left(), 500U);
    OutputBuffer second(100, 1 << 20, spool.path(), budget);
    second.append(std::string(1000, 'b'));
    EXPECT_EQ(budget->left(), 0U);
    EXPECT_EQ(second.bytes(), 1000U);
    EXPECT_EQ(second.stored(), 500U);
    // The tail is there all the same.
    EXPECT_EQ(second.read(950, 50), std::string(50, 'b'));
  }
  EXPECT_EQ(budget->left(), 1500U);
}

}  // namespace
}  // namespace bawn::shell
