/// \file
/// Calls that a client sends without waiting for answers: those about one file keep their order.
#include "tool_fixture.hpp"

#include <fmt/format.h>

namespace bawn::test {
namespace {

using contract::Json;
using Calls = std::vector<std::pair<std::string, Json>>;

class CallOrder : public FileToolFixture {};

Json edit(const std::string& path, int from) {
  return {{"path", path},
          {"old_string", fmt::format("<{}>", from)},
          {"new_string", fmt::format("<{}>", from + 1)}};
}

TEST_F(CallOrder, EditsOfOneFileAreMadeInTheOrderInWhichTheyWereSent) {
  constexpr int kEdits = 24;
  server_->put("file", "<0>\n");
  Calls calls;
  for (int i = 0; i < kEdits; ++i) {
    // Different spellings, and other files between them.
    calls.emplace_back("edit_file", edit(i % 2 == 0 ? "file" : ".//file", i));
    calls.emplace_back("write_file", Json{{"path", fmt::format("other{}", i)}, {"content", "x"}});
  }
  calls.emplace_back("read_file", Json{{"path", "file"}});
  const auto answers = server_->call_at_once(calls);
  for (const ToolAnswer& answer : answers) {
    EXPECT_FALSE(answer.failed) << answer.text;
  }
  EXPECT_EQ(content("file"), fmt::format("<{}>\n", kEdits));
  EXPECT_THAT(answers.back().text, ::testing::HasSubstr(fmt::format("<{}>", kEdits)));
}

TEST_F(CallOrder, PatchesAndUndosStandInTheSameLine) {
  server_->put("file", "<0>\n");
  const std::string first = changes("edit_file", edit("file", 0));
  const auto answers = server_->call_at_once(
      {{"undo_change", Json{{"call", first}}},
       {"apply_patch",
        Json{{"patch", "*** Begin Patch\n*** Update File: file\n-<0>\n+<7>\n*** End Patch\n"}}},
       {"edit_file", edit("file", 7)}});
  for (const ToolAnswer& answer : answers) {
    EXPECT_FALSE(answer.failed) << answer.text;
  }
  EXPECT_EQ(content("file"), "<8>\n");
}

TEST_F(CallOrder, ALookAtADirectorySeesTheChangesThatWereSentBeforeIt) {
  Calls calls;
  constexpr int kRounds = 8;
  for (int i = 0; i < kRounds; ++i) {
    const std::string name = fmt::format("d/file{}", i);
    calls.emplace_back(
        "write_file",
        Json{{"path", name}, {"content", fmt::format("needle{}\n", i)}, {"make_parents", true}});
    calls.emplace_back("search_files", Json{{"pattern", "needle"}, {"path", "./d/"}});
    calls.emplace_back("list_files", Json{{"path", "."}});
  }
  const auto answers = server_->call_at_once(calls);
  for (int i = 0; i < kRounds; ++i) {
    for (const int look : {1, 2}) {
      const ToolAnswer& answer = answers[static_cast<std::size_t>(3 * i + look)];
      ASSERT_FALSE(answer.failed) << answer.text;
      EXPECT_EQ(answer.structured["total_files"], i + 1) << answer.text;
    }
  }
}

}  // namespace
}  // namespace bawn::test
