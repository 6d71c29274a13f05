#include "bawn/contract/set.hpp"

#include "bawn/contract/make_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace bawn::contract {
namespace {

class LoggedCloser final : public Closer {
 public:
  LoggedCloser(std::string name, std::vector<std::string>& log, bool fails = false)
      : name_(std::move(name)), log_(log), fails_(fails) {}
  Result<> close() override {
    log_.push_back(name_);
    return fails_ ? Result<>(fail(ErrorCode::Internal, "stuck")) : Result<>();
  }

 private:
  std::string name_;
  std::vector<std::string>& log_;
  bool fails_;
};

class Nameless final : public Tool {
 public:
  Nameless() : Tool({}, {}) {}
  Outcome execute(const Context&, const Call&) const override { return {}; }
};

ToolPtr tool_named(std::string name, std::shared_ptr<Closer> closer = nullptr) {
  return make_raw_tool(std::move(name), "", std::nullopt,
                       [](const Context&, const Call&) { return text_result(""); },
                       {.closer = std::move(closer)})
      .value();
}

TEST(Set, LooksUpTheFirstMatchAndKeepsOrder) {  // C-11
  const ToolPtr first = tool_named("b");
  const Set set({first, tool_named("a"), tool_named("b")});
  EXPECT_EQ(set.lookup("b"), first);
  EXPECT_EQ(set.lookup("c"), nullptr);
  ASSERT_EQ(set.definitions().size(), 3U);
  EXPECT_EQ(set.definitions()[1].name, "a");
  EXPECT_TRUE(Set().definitions().empty());
}

TEST(Set, ValidateNamesTheFirstDefect) {  // C-11
  EXPECT_TRUE(Set().validate());
  EXPECT_TRUE(Set({tool_named("a"), tool_named("b")}).validate());
  EXPECT_EQ(Set({tool_named("a"), tool_named("a")}).validate().error().message(),
            "tool \"a\": duplicate name");
  const ToolPtr twice = tool_named("a");
  EXPECT_EQ(Set({twice, twice}).validate().error().message(), "tool \"a\": duplicate name");
  EXPECT_EQ(Set({tool_named("a"), nullptr}).validate().error().message(), "tool[1]: no tool");
  EXPECT_EQ(Set({std::make_shared<Nameless>()}).validate().error().message(),
            "tool[0]: empty name");
}

TEST(Set, CloseGoesOnAfterErrorsAndJoinsThem) {  // C-131
  std::vector<std::string> log;
  const Set set({tool_named("a", std::make_shared<LoggedCloser>("a", log, true)), tool_named("x"),
                 tool_named("b", std::make_shared<LoggedCloser>("b", log)),
                 tool_named("c", std::make_shared<LoggedCloser>("c", log, true))});
  const auto closed = set.close();
  EXPECT_THAT(log, testing::ElementsAre("a", "b", "c"));
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().message(), "bawn: close \"a\": stuck\nbawn: close \"c\": stuck");
  EXPECT_EQ(closed.error().causes().size(), 2U);
}

class ThrowingCloser final : public Closer {
 public:
  Result<> close() override { throw std::runtime_error("lost"); }
};

TEST(Set, WhatACloserThrowsKeepsNoOtherOpen) {  // C-131
  std::vector<std::string> log;
  const auto closed = Set({tool_named("a", std::make_shared<ThrowingCloser>()),
                           tool_named("b", std::make_shared<LoggedCloser>("b", log))})
                          .close();
  EXPECT_EQ(closed.error().message(), "bawn: close \"a\": panicked: lost");
  EXPECT_THAT(log, testing::ElementsAre("b"));
}

TEST(Set, ASharedCloserIsClosedOnce) {
  std::vector<std::string> log;
  const auto shared = std::make_shared<LoggedCloser>("shell", log);
  EXPECT_TRUE(Set({tool_named("bash", shared), tool_named("restart", shared)}).close());
  EXPECT_THAT(log, testing::ElementsAre("shell"));
}

}  // namespace
}  // namespace bawn::contract
