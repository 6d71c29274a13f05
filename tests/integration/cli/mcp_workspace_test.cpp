/// \file
/// Which directory a host's server works in.
#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>

namespace bawn::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWhere =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exec","arguments":{"argv":["pwd"]}}})"
    "\n";

ProgramResult serve(const std::string& directory, std::map<std::string, std::string> environment,
                    std::vector<std::string> options = {}) {
  std::vector<std::string> argv = {BAWN_PROGRAM, "mcp"};
  argv.insert(argv.end(), options.begin(), options.end());
  return run_program({.argv = argv,
                      .input = kWhere,
                      .directory = directory,
                      .env = std::move(environment),
                      .uid = 0});
}

class McpWorkspace : public ::testing::Test {
 protected:
  [[nodiscard]] static std::string name(const TempDir& folder) {
    return std::filesystem::canonical(folder.path()).string();
  }
  const TempDir one_;
  const TempDir other_;
};

TEST_F(McpWorkspace, IsTheDirectoryThatTheHostStartsItIn) {
  BAWN_REQUIRE("landlock");
  EXPECT_THAT(serve(name(one_), {{"CLAUDE_PROJECT_DIR", ""}}).out, HasSubstr(name(one_)));
}

TEST_F(McpWorkspace, IsTheProjectThatTheHostNamesWhereverItIsStarted) {
  BAWN_REQUIRE("landlock");
  EXPECT_THAT(serve("/", {{"CLAUDE_PROJECT_DIR", name(one_)}}).out, HasSubstr(name(one_)));
}

TEST_F(McpWorkspace, IsWhatTheCommandLineSaysFirstOfAll) {
  BAWN_REQUIRE("landlock");
  const auto served =
      serve("/", {{"CLAUDE_PROJECT_DIR", name(one_)}}, {"--workspace", name(other_)});
  EXPECT_THAT(served.out, HasSubstr(name(other_)));
  EXPECT_THAT(served.out, ::testing::Not(HasSubstr(name(one_))));
}

TEST_F(McpWorkspace, IsNeverTheRoot) {
  const auto served = serve("/", {{"CLAUDE_PROJECT_DIR", ""}});
  EXPECT_NE(served.exit_code, 0);
  EXPECT_THAT(served.err, HasSubstr("must not be"));
}

TEST_F(McpWorkspace, HoldsNoSocketWhoseClientACommandCouldBe) {
  BAWN_REQUIRE("landlock");
  for (const std::string& path : {std::string("socket"), name(one_) + "/socket"}) {
    const auto refused =
        serve(name(one_), {{"CLAUDE_PROJECT_DIR", ""}}, {"--listen", "unix:" + path});
    EXPECT_EQ(refused.exit_code, 125) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("the socket must lie outside " + name(one_)));
    EXPECT_FALSE(std::filesystem::exists(name(one_) + "/socket"));
  }
}

}  // namespace
}  // namespace bawn::test
