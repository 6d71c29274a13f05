#include "command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::container {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kEnvironment = {"PATH=/usr/bin:/bin", "EMPTY=", "A=b"};

TEST(RunCommandTest, KeepsBothStreamsApartAndTheStatus) {
  const auto output = run_command(contract::Context(), "/bin/sh",
                                  {"-c", "echo out; echo err >&2; exit 3"}, kEnvironment);
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->status, 3);
}

TEST(RunCommandTest, EndsWithItsContext) {
  const contract::CancelSource source{contract::Context()};
  source.cancel();
  const auto output = run_command(source.context(), "/bin/sh", {"-c", "sleep 600"}, kEnvironment);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code(), ErrorCode::Cancelled);
}

TEST(RunCommandTest, OutputWithoutEndIsRefused) {
  const auto output =
      run_command(contract::Context(), "/bin/sh", {"-c", "cat /dev/zero"}, kEnvironment);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code(), ErrorCode::ResourceExhausted);
}

TEST(FindInPathTest, TakesAbsoluteFoldersOnly) {
  EXPECT_THAT(find_in_path(kEnvironment, "sh"), HasSubstr("/bin/sh"));
  EXPECT_EQ(find_in_path({"PATH=.:bin"}, "sh"), "");
  EXPECT_EQ(find_in_path(kEnvironment, "no-such-program-here"), "");
}

TEST(VariableTest, IsFoundByItsWholeName) {
  EXPECT_EQ(variable(kEnvironment, "A"), "b");
  EXPECT_EQ(variable(kEnvironment, "EMPTY"), "");
  EXPECT_EQ(variable(kEnvironment, "EMPT"), "");
}

TEST(FirstComplaintTest, IsTheFirstLineWithoutTheEnginesPrefix) {
  EXPECT_EQ(first_complaint("\ntime=\"x\" level=warning\nError: no such image\nmore\n"),
            "no such image");
  EXPECT_EQ(first_complaint("docker: Error response from daemon: conflict\n"), "conflict");
  EXPECT_EQ(first_complaint("Resource limits are ignored\nError: no such image\n"),
            "no such image");
  EXPECT_EQ(first_complaint("only a word\n"), "only a word");
  EXPECT_EQ(first_complaint(""), "");
}

}  // namespace
}  // namespace bawn::container
