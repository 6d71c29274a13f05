// Plays the transcripts of this folder. A line that begins with ">" is sent, one that begins with
// "<" must come next and be the same JSON; "#" begins a comment.
#include "server_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace bawn::test {
namespace {

std::vector<std::filesystem::path> transcripts() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(BAWN_TRANSCRIPTS)) {
    found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

class Transcript : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Transcript, IsAnsweredAsWritten) {
  ServerProcess server({BAWN_FIXTURE_SERVER});
  std::ifstream file(GetParam());
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with("> ")) {
      server.send(line.substr(2));
    } else if (line.starts_with("< ")) {
      // Unordered: members may come in any order.
      const auto expected = nlohmann::json::parse(line.substr(2));
      const auto text = server.receive_line();
      ASSERT_TRUE(text) << "line " << number << ": nothing came";
      EXPECT_EQ(nlohmann::json::parse(*text), expected) << "line " << number;
    }
  }
  server.close_input();
  EXPECT_EQ(server.receive_line(), std::nullopt) << "more came than the transcript says";
  EXPECT_EQ(server.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Stdio, Transcript, ::testing::ValuesIn(transcripts()),
                         [](const auto& tested) { return tested.param.stem().string(); });

}  // namespace
}  // namespace bawn::test
