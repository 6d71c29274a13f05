#include "bawn/contract/keyed.hpp"

#include "bawn/contract/executor.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/panic.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>

namespace bawn::contract {
namespace {

/// As a host's own store would call itself.
class DurableStore final : public KeyedStore {
 public:
  Result<KeyClaim> claim(const CallKey& key, const std::string& fingerprint) override {
    return memory_.claim(key, fingerprint);
  }
  Result<> complete(const CallKey& key, const Outcome& outcome) override {
    return fails ? Result<>(fail(ErrorCode::ResourceExhausted, "the disk is full"))
                 : memory_.complete(key, outcome);
  }
  bool durable() const noexcept override { return true; }
  bool fails = false;

 private:
  MemoryKeyedStore memory_;
};

class Keyed : public testing::Test {
 protected:
  ToolPtr tool(RawFunction function = {}) {
    if (!function) {
      function = [this](const Context&, const Call& call) -> Outcome {
        ++runs;
        if (call.args == "[]") {
          return Error(ErrorCode::ToolFailed, "no lists");
        }
        return text_result("run " + std::to_string(runs));
      };
    }
    return keyed(make_raw_tool("pay", "", std::nullopt, std::move(function)).value()).value();
  }
  std::string call(const ToolPtr& tool, std::string args, std::string key) {
    const Outcome outcome =
        tool->execute(context, {.args = std::move(args), .idempotency_key = std::move(key)});
    return outcome.error ? outcome.error->message() : output_text(outcome.result);
  }
  int runs = 0;
  std::shared_ptr<MemoryKeyedStore> store = std::make_shared<MemoryKeyedStore>();
  Context context = with_keyed_store(Context(), store);
};

TEST_F(Keyed, ASecondCallOfAKeyGetsTheStoredOutcomeAndRunsNothing) {  // C-77
  const ToolPtr pay = tool();
  EXPECT_EQ(call(pay, R"({"a":1,"b":2})", "k1"), "run 1");
  EXPECT_EQ(call(pay, R"({ "b": 2, "a": 1 })", "k1"), "run 1");
  EXPECT_EQ(call(pay, R"({"a":1,"b":2})", "k2"), "run 2");
  EXPECT_EQ(call(pay, "[]", "k3"), "no lists");
  EXPECT_EQ(call(pay, "[]", "k3"), "no lists");
  EXPECT_EQ(runs, 3);
}

TEST_F(Keyed, OtherArgumentsUnderOneKeyAreRefused) {  // C-77
  const ToolPtr pay = tool();
  EXPECT_EQ(call(pay, R"({"a":1})", "k"), "run 1");
  EXPECT_EQ(call(pay, R"({"a":2})", "k"),
            R"(tool "pay": this idempotency key belongs to a call with other arguments)");
  EXPECT_EQ(runs, 1);
}

TEST_F(Keyed, LargeIntegersAreNotRoundedIntoOneAnother) {  // C-77
  const ToolPtr pay = tool();
  EXPECT_EQ(call(pay, R"({"id":9007199254740993})", "k"), "run 1");
  EXPECT_NE(call(pay, R"({"id":9007199254740992})", "k"), "run 1");
  EXPECT_EQ(call(pay, R"({"id":9007199254740993})", "k"), "run 1");
  EXPECT_EQ(runs, 1);
}

TEST_F(Keyed, ACallIsRefusedWhileTheFirstOneOfItsKeyRuns) {  // C-77
  std::latch started(1);
  std::latch finish(1);
  const ToolPtr slow = tool([&](const Context&, const Call&) {
    started.count_down();
    finish.wait();
    return text_result("done");
  });
  std::thread first([&] { EXPECT_EQ(call(slow, "{}", "k"), "done"); });
  started.wait();
  const Outcome second = slow->execute(context, {.args = "{}", .idempotency_key = "k"});
  EXPECT_EQ(second.error->code(), ErrorCode::Busy);
  finish.count_down();
  first.join();
  EXPECT_EQ(call(slow, "{}", "k"), "done");
}

TEST_F(Keyed, WithoutAKeyOrAStoreEveryCallRuns) {
  const ToolPtr pay = tool();
  EXPECT_EQ(call(pay, "{}", ""), "run 1");
  EXPECT_EQ(call(pay, "{}", ""), "run 2");
  context = with_keyed_store(context, nullptr);
  EXPECT_EQ(call(pay, "{}", "k"), "run 3");
  EXPECT_EQ(call(pay, "{}", "k"), "run 4");
}

TEST_F(Keyed, OnlyADurableStoreMakesTheClaimTrue) {  // C-76, C-77
  const ToolPtr pay = tool();
  EXPECT_EQ(replay_of(*pay, Context(), "{}", "k"), Replay::Unknown);
  EXPECT_EQ(replay_of(*pay, context, "{}", "k"), Replay::Unknown);
  const Context durable = with_keyed_store(Context(), std::make_shared<DurableStore>());
  EXPECT_EQ(replay_of(*pay, durable, "{}", "k"), Replay::Keyed);
  EXPECT_EQ(replay_of(*pay, durable, "{}", ""), Replay::Unknown);
}

TEST_F(Keyed, WhatAToolThrowsIsItsStoredOutcome) {  // C-77, C-101
  const ToolPtr throwing = tool([this](const Context&, const Call&) -> Outcome {
    ++runs;
    throw std::runtime_error("boom");
  });
  EXPECT_EQ(call(throwing, "{}", "k"), R"(tool "pay" panicked: boom)");
  EXPECT_EQ(call(throwing, "{}", "k"), R"(tool "pay" panicked: boom)");
  EXPECT_EQ(runs, 1);
}

TEST_F(Keyed, AnOutcomeThatCannotBeKeptIsReturnedAndNeverRunAgain) {  // C-77
  const auto failing = std::make_shared<DurableStore>();
  failing->fails = true;
  context = with_keyed_store(Context(), failing);
  const ToolPtr pay = tool();
  EXPECT_EQ(call(pay, "{}", "k"), "run 1");
  EXPECT_EQ(call(pay, "{}", "k"),
            R"(tool "pay": the first call with this idempotency key has not completed)");
  EXPECT_EQ(runs, 1);
}

TEST_F(Keyed, TheStoreForgetsTheOldestFirst) {
  store = std::make_shared<MemoryKeyedStore>(1);
  context = with_keyed_store(Context(), store);
  const ToolPtr pay = tool();
  EXPECT_EQ(call(pay, "{}", "k1"), "run 1");
  EXPECT_EQ(call(pay, "{}", "k2"), "run 2");
  EXPECT_EQ(call(pay, "{}", "k2"), "run 2");
  EXPECT_EQ(call(pay, "{}", "k1"), "run 3");
}

TEST_F(Keyed, AnExecutorBringsItsStore) {  // C-77, C-142
  const Executor executor({.keyed_store = store});
  const Job job{.tool = tool(), .call = {.id = "c", .args = "{}", .idempotency_key = "k"}};
  (void)executor.results({}, {job});
  const auto again = executor.results({}, {job});
  EXPECT_EQ(output_text(again.front().result), "run 1");
  EXPECT_EQ(runs, 1);
}

TEST_F(Keyed, NeedsATool) {
  EXPECT_FALSE(keyed(nullptr));
}

}  // namespace
}  // namespace bawn::contract
