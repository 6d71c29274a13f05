// One-shot programs beside the shell.
#include "session_fixture.hpp"

#include <gmock/gmock.h>

namespace bawn::test {
namespace {

using shell::Reason;
using ::testing::HasSubstr;

TEST_F(SessionTest, ExecGivesExactStatusOutputAndUse) {
  const auto result = exec({"sh", "-c", "echo out; echo err >&2; exit 5"});
  EXPECT_EQ(result.reason, Reason::Exited);
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.out.text, "out\n");
  EXPECT_EQ(result.err.text, "err\n");
  EXPECT_TRUE(result.cpu_us.has_value());
  EXPECT_GT(result.peak_memory_bytes.value_or(0), 0U);
}

TEST_F(SessionTest, ExecTellsASignalFromAnExitCode) {
  const auto result = exec({"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(result.reason, Reason::Signalled);
  EXPECT_EQ(result.signal, 11);
  EXPECT_EQ(result.exit_code, 139);
}

TEST_F(SessionTest, ExecReturnsWhileADescendantHoldsItsOutput) {
  const auto result = exec({"sh", "-c", "sleep 600 & echo important; exit 3"});
  EXPECT_EQ(result.out.text, "important\n");
  EXPECT_EQ(result.exit_code, 3);
  ASSERT_EQ(result.survivors.size(), 1U);
}

TEST_F(SessionTest, ExecTakesInputDirectoryAndEnvironment) {
  shell::ExecRequest request;
  request.argv = {"sh", "-c", "cat; pwd; echo $X"};
  request.cwd = "/usr";
  request.environment = {{"X", "y z"}};
  request.input = "in\n";
  const auto result = session_->exec(contract::Context(), std::move(request));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.text, "in\n/usr\ny z\n");
}

TEST_F(SessionTest, ExecRefusesAnEmptyCommandAndNulBytes) {
  EXPECT_EQ(session_->exec(contract::Context(), {}).error().code(),
            contract::ErrorCode::InvalidArgument);
  shell::ExecRequest request;
  request.argv = {"echo", std::string("a\0b", 3)};
  EXPECT_EQ(session_->exec(contract::Context(), std::move(request)).error().code(),
            contract::ErrorCode::InvalidArgument);
}

TEST_F(SessionTest, RecentCallsAreListedAndBounded) {
  session_->close();
  limits_.recent_calls = 3;
  start();
  for (int i = 0; i < 10; ++i) {
    exec({"true"});
  }
  const auto recent = session_->recent();
  EXPECT_LE(recent.size(), 4U);
  EXPECT_EQ(recent.back().kind, "exec");
  shell::OutputRequest old;
  old.call = "nothing.1";
  EXPECT_EQ(session_->output(contract::Context(), old).error().code(),
            contract::ErrorCode::NotFound);
}

TEST_F(SessionTest, OutputBeyondMemoryIsReadFromDisk) {
  const auto result = exec({"seq", "200000"});
  EXPECT_GT(result.out.missing_bytes, 0U);
  EXPECT_EQ(result.out.stored, result.out.bytes);
  shell::OutputRequest request;
  request.call = result.call;
  request.out_from = 600'000;
  request.view_bytes = 7;
  const auto part = session_->output(contract::Context(), request);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->out.from, 600'000U);
  EXPECT_THAT(part->out.text, HasSubstr("left out"));
}

}  // namespace
}  // namespace bawn::test
