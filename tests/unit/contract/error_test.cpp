#include "bawn/contract/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace bawn::contract {
namespace {

struct Payload {
  int value;
};

TEST(Error, KeepsCodeAndMessage) {
  const Error error(ErrorCode::NotFound, "no session named x");
  EXPECT_EQ(error.code(), ErrorCode::NotFound);
  EXPECT_EQ(error.message(), "no session named x");
  EXPECT_EQ(error.errnum(), 0);
  EXPECT_TRUE(error.call().empty());
}

TEST(Error, NamesEveryCodeOnce) {
  EXPECT_EQ(to_string(ErrorCode::InvalidArgument), "invalid_argument");
  EXPECT_EQ(to_string(ErrorCode::ToolPanicked), "tool_panicked");
  EXPECT_EQ(to_string(ErrorCode::Internal), "internal");
}

TEST(Error, FromErrnoChoosesTheCodeAndKeepsTheCall) {
  const Error missing = Error::from_errno(ENOENT, "openat", "open /x");
  EXPECT_EQ(missing.code(), ErrorCode::NotFound);
  EXPECT_EQ(missing.message(), "open /x: No such file or directory");
  EXPECT_EQ(missing.errnum(), ENOENT);
  EXPECT_EQ(missing.call(), "openat");
  EXPECT_EQ(Error::from_errno(EPERM, "kill", "k").code(), ErrorCode::PermissionDenied);
  EXPECT_EQ(Error::from_errno(EMFILE, "open", "o").code(), ErrorCode::ResourceExhausted);
  EXPECT_EQ(Error::from_errno(ENOSYS, "x", "y").code(), ErrorCode::Unsupported);
  EXPECT_EQ(Error::from_errno(EIO, "read", "r").code(), ErrorCode::Internal);
}

TEST(Error, WrapPrefixesAndKeepsTheCause) {
  const Error inner = Error::from_errno(EACCES, "openat", "open /x");
  const Error outer = inner.wrap("read_file");
  EXPECT_EQ(outer.message(), "read_file: open /x: Permission denied");
  EXPECT_EQ(outer.code(), ErrorCode::PermissionDenied);
  EXPECT_EQ(outer.errnum(), EACCES);
  ASSERT_EQ(outer.causes().size(), 1U);
  EXPECT_EQ(outer.causes().front().message(), inner.message());
}

TEST(Error, IsFollowsVisibleCausesOnly) {
  const Error cause(ErrorCode::Cancelled, "stopped");
  const Error base(ErrorCode::ToolFailed, "failed");
  EXPECT_TRUE(base.with_cause(cause).is(ErrorCode::Cancelled));
  const Error hidden = base.with_hidden_cause(cause);
  EXPECT_FALSE(hidden.is(ErrorCode::Cancelled));
  ASSERT_TRUE(hidden.hidden_cause().has_value());
  EXPECT_EQ(hidden.hidden_cause()->message(), "stopped");
}

TEST(Error, FindReachesPayloadsThroughWrapsButNotThroughHiddenCauses) {
  const Error error = Error(ErrorCode::ToolFailed, "x").with_payload(Payload{7});
  ASSERT_NE(error.wrap("outer").find<Payload>(), nullptr);
  EXPECT_EQ(error.wrap("outer").find<Payload>()->value, 7);
  EXPECT_EQ(error.find<int>(), nullptr);
  EXPECT_EQ(Error(ErrorCode::Internal, "y").with_hidden_cause(error).find<Payload>(), nullptr);
}

Result<int> doubled(Result<int> input) {
  return 2 * BAWN_TRY(std::move(input));
}

TEST(Error, TryReturnsTheErrorOrGivesTheValue) {
  EXPECT_EQ(doubled(21).value(), 42);
  const auto failed = doubled(fail(ErrorCode::Busy, "later"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::Busy);
}

}  // namespace
}  // namespace bawn::contract
