// A batch whose consumer does what it should not.
#include "bawn/contract/call_context.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bawn::contract {
namespace {

using testing::ElementsAre;

/// Says "1" and "2" on its way to "done".
ToolPtr telling(ToolOptions options = {}) {
  return make_raw_tool(
             "telling", "", std::nullopt,
             [](const Context& context, const Call&) {
               progress(context, text_result("1"));
               progress(context, text_result("2"));
               return Outcome(text_result("done"));
             },
             std::move(options))
      .value();
}

Job watched(std::function<void(const ToolResult&)> on_update, ToolOptions options = {}) {
  return {.tool = telling(std::move(options)),
          .call = {.id = "c1", .on_update = std::move(on_update)}};
}

TEST(Batch, FromInsideAnUpdateThereIsNoNextEvent) {  // C-134, C-135
  std::optional<Batch> batch;
  int asked = 0;
  const auto asking = [&](const ToolResult&) {
    ++asked;
    EXPECT_FALSE(batch->next());
  };
  // The second is of the first one's chain, the third runs beside them.
  const ToolOptions shared{.resource = "shell:s"};
  batch.emplace(
      Executor().start({}, {watched(asking, shared), watched(asking, shared), watched(asking)}));
  int finals = 0;
  int updates = 0;
  while (const auto event = batch->next()) {
    ++(event->final ? finals : updates);
  }
  EXPECT_EQ(finals, 3);
  EXPECT_EQ(updates, 6);
  EXPECT_EQ(asked, 6);
  EXPECT_FALSE(batch->next());
}

TEST(Batch, AnUpdateMayRunABatchOfItsOwn) {
  std::vector<Outcome> inner;
  const Job job = watched([&](const ToolResult&) {
    inner = Executor().results({}, {{.tool = telling(), .call = {.id = "inner"}}});
  });
  EXPECT_EQ(output_text(Executor().results({}, {job})[0].result), "done");
  EXPECT_EQ(output_text(inner.at(0).result), "done");
}

TEST(Batch, OneThatWasMovedFromIsOver) {
  Batch first = Executor().start({}, {watched({})});
  Batch second = std::move(first);
  EXPECT_FALSE(first.next());  // NOLINT(bugprone-use-after-move): what it answers is the question
  EXPECT_FALSE(first.next());
  EXPECT_EQ(output_text(second.next()->outcome.result), "1");
  const Batch third = std::move(first);
}

TEST(Batch, WhatAnUpdateThrowsEndsAtItsEvent) {  // C-135
  int calls = 0;
  const Job throwing = watched([&](const ToolResult&) {
    ++calls;
    throw std::runtime_error("watcher\nbroke");
  });
  std::vector<std::string> told;
  Batch batch = Executor().start({}, {throwing});
  while (const auto event = batch.next()) {
    told.push_back(output_text(event->outcome.result) + "|" +
                   (event->outcome.error ? event->outcome.error->message() : ""));
  }
  const std::string broke = R"(|bawn: on_update for call "c1" panicked: "watcher\nbroke")";
  EXPECT_THAT(told, ElementsAre("1" + broke, "2" + broke, "done|"));
  EXPECT_EQ(calls, 2);
}

TEST(Batch, ResultsAreKeptWhateverAnUpdateThrows) {  // C-139
  const std::function<void(const ToolResult&)> throwing[] = {
      [](const ToolResult&) { throw std::runtime_error("boom"); },
      [](const ToolResult&) { throw 7; },
      [](const ToolResult&) { throw static_cast<const char*>(nullptr); }};
  for (const auto& on_update : throwing) {
    const auto outcomes = Executor({.max_parallel = 2})
                              .results({}, {watched(on_update), watched({}), watched(on_update)});
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(output_text(outcome.result), "done");
      EXPECT_FALSE(outcome.error);
    }
  }
}

}  // namespace
}  // namespace bawn::contract
