#include "bawn/contract/executor.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace bawn::contract {
namespace {

using testing::ElementsAre;
using Chains = std::vector<std::vector<std::size_t>>;

ToolPtr tool(RawFunction function, ToolOptions options = {}, std::string name = "t") {
  return make_raw_tool(std::move(name), "", std::nullopt, std::move(function), std::move(options))
      .value();
}

ToolPtr saying(std::string text, ToolOptions options = {}) {
  return tool([text](const Context&, const Call&) { return text_result(text); },
              std::move(options));
}

// Waits for its context to end; the test fails by its own time limit if that never happens.
Outcome wait_for_cancellation(const Context& context, const Call& /*call*/) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, context.stop_token(), [] { return false; });
  return cancellation_error(context);
}

Job job(ToolPtr tool, std::string id = "c") {
  return {.tool = std::move(tool), .call = {.id = std::move(id)}};
}

std::vector<std::string> texts(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> all;
  for (const Outcome& outcome : outcomes) {
    all.push_back(output_text(model_result(outcome)));
  }
  return all;
}

TEST(Executor, ChainsGroupByResourceAtTheFirstPlace) {  // C-132
  const ToolPtr plain = saying("");
  const ToolPtr shell = saying("", {.resource = "shell:session"});
  const ToolPtr other = saying("", {.resource = "container:47"});
  const ToolPtr both = saying("", {.sequential = true, .resource = "shell:session"});
  const Executor executor;
  EXPECT_EQ(executor.chains({}), Chains{});
  EXPECT_EQ(executor.chains({job(plain), job(plain)}), (Chains{{0}, {1}}));
  EXPECT_EQ(executor.chains({job(other), job(shell), job(plain), job(shell), job(other)}),
            (Chains{{0, 4}, {1, 3}, {2}}));
  EXPECT_EQ(executor.chains({job(nullptr), job(shell)}), (Chains{{0}, {1}}));
  EXPECT_EQ(executor.chains({job(both), job(plain)}), (Chains{{0, 1}}));
  EXPECT_EQ(Executor({.max_parallel = 1}).chains({job(plain), job(plain)}), (Chains{{0, 1}}));
  EXPECT_EQ(Executor({.sequential = true}).chains({job(plain), job(shell)}), (Chains{{0, 1}}));
}

TEST(Executor, ACallThatNamesSeveralResourcesJoinsTheirChains) {
  ToolOptions options;
  options.resources = [](const Context&, std::string_view args) {
    std::vector<std::string> names;
    for (const char letter : args) {
      names.push_back(std::string("file:/") + letter);
    }
    return names;
  };
  const ToolPtr writer = saying("", std::move(options));
  const auto on = [&](std::string args) {
    return Job{.tool = writer, .call = {.id = "c", .args = std::move(args)}};
  };
  const Executor executor;
  EXPECT_EQ(executor.chains({on("a"), on("b"), on("a"), on("")}), (Chains{{0, 2}, {1}, {3}}));
  EXPECT_EQ(executor.chains({on("a"), on("b"), on("c"), on("cb"), on("a")}),
            (Chains{{0, 4}, {1, 2, 3}}));
}

TEST(Executor, ALookAtADirectoryJoinsTheChainsOfWhatIsInIt) {
  const auto on = [](std::string name) { return job(saying("", {.resource = std::move(name)})); };
  const Executor executor;
  EXPECT_EQ(executor.chains({on("file:/a/x"), on("file:/a/"), on("file:/b"), on("file:/b/")}),
            (Chains{{0, 1}, {2, 3}}));
  EXPECT_EQ(executor.chains({on("file:/a/"), on("file:/a/"), on("file:/")}),
            (Chains{{0}, {1}, {2}}));
  EXPECT_EQ(executor.chains({on("file:/ab"), on("file:/a/"), on("file:/a/b/c")}),
            (Chains{{0}, {1, 2}}));
}

TEST(Executor, AToolThatThrowsWhenAskedForItsResourcesMakesTheBatchSerial) {  // C-101, C-132
  ToolOptions options;
  options.resources = [](const Context&, std::string_view) -> std::vector<std::string> {
    throw std::runtime_error("no idea");
  };
  const std::vector<Job> jobs = {job(saying("a")), job(saying("b", std::move(options))),
                                 job(saying("c"))};
  EXPECT_EQ(Executor().chains(jobs), (Chains{{0, 1, 2}}));
  EXPECT_THAT(texts(Executor().results({}, jobs)), ElementsAre("a", "b", "c"));
}

TEST(Executor, ResultsComeInJobOrder) {  // C-139
  EXPECT_THAT(texts(Executor().results({}, {job(saying("a")), job(saying("b")), job(saying("c"))})),
              ElementsAre("a", "b", "c"));
  EXPECT_TRUE(Executor().results({}, {}).empty());
}

TEST(Executor, FinalsComeInOrderOfCompletion) {  // C-134
  std::latch fast_is_done(1);
  const ToolPtr slow = tool([&](const Context&, const Call&) {
    fast_is_done.wait();
    return text_result("slow");
  });
  Batch batch = Executor().start({}, {job(slow), job(saying("fast"))});
  const auto first = batch.next();
  fast_is_done.count_down();
  const auto second = batch.next();
  EXPECT_EQ(first->index, 1U);
  EXPECT_EQ(second->index, 0U);
  EXPECT_FALSE(batch.next());
  EXPECT_FALSE(batch.next());
}

TEST(Executor, NoMoreJobsRunAtOnceThanTheBound) {  // C-130, C-133
  std::atomic<int> running = 0;
  std::atomic<int> peak = 0;
  std::barrier pair(2);
  const ToolPtr counting = tool([&](const Context&, const Call&) {
    const int now = ++running;
    int seen = peak;
    while (now > seen && !peak.compare_exchange_weak(seen, now)) {
    }
    pair.arrive_and_wait();  // passes only when two run together
    --running;
    return text_result("");
  });
  (void)Executor({.max_parallel = 2}).results({}, std::vector<Job>(6, job(counting)));
  EXPECT_EQ(peak, 2);
}

TEST(Executor, OneSequentialToolMakesTheBatchSerial) {  // C-73
  std::vector<std::string> order;
  const RawFunction note = [&](const Context&, const Call& call) {
    order.push_back(call.id);
    return text_result("");
  };
  (void)Executor().results(
      {}, {job(tool(note), "a"), job(tool(note, {.sequential = true}), "b"), job(tool(note), "c")});
  EXPECT_THAT(order, ElementsAre("a", "b", "c"));
}

TEST(Executor, AResourceKeepsOrderWhileOthersOverlap) {  // C-132
  std::barrier reads(3);
  std::vector<std::string> order;
  const ToolPtr read = tool([&](const Context&, const Call&) {
    reads.arrive_and_wait();
    return text_result("");
  });
  const ToolPtr shell = tool(
      [&](const Context&, const Call& call) {
        order.push_back(call.id);
        return text_result("");
      },
      {.resource = "shell:s"});
  (void)Executor().results(
      {}, {job(shell, "cd a"), job(read), job(shell, "cd b"), job(read), job(read)});
  EXPECT_THAT(order, ElementsAre("cd a", "cd b"));
}

TEST(Executor, ABoundOfNothingIsTheDefaultOfEight) {  // C-130
  for (const int none : {0, -1}) {
    std::atomic<int> running = 0;
    std::atomic<int> peak = 0;
    std::barrier eight(8);
    const ToolPtr counting = tool([&](const Context&, const Call&) {
      const int now = ++running;
      int seen = peak;
      while (now > seen && !peak.compare_exchange_weak(seen, now)) {
      }
      eight.arrive_and_wait();  // passes only when eight run together
      --running;
      return text_result("");
    });
    (void)Executor({.max_parallel = none}).results({}, std::vector<Job>(16, job(counting)));
    EXPECT_EQ(peak, 8);
  }
}

TEST(Executor, TheStartHookRunsInItsJobsSlot) {  // C-133, C-137
  std::atomic<int> inside = 0;
  std::atomic<int> peak = 0;
  const auto enter = [&] {
    const int now = ++inside;
    int seen = peak;
    while (now > seen && !peak.compare_exchange_weak(seen, now)) {
    }
  };
  std::barrier pair(2);
  const ToolPtr leaving = tool([&](const Context&, const Call&) {
    --inside;
    return text_result("");
  });
  const Executor executor({.max_parallel = 2, .on_start = [&](const Context&, const Job&) {
                             enter();
                             pair.arrive_and_wait();
                             return Result<>();
                           }});
  (void)executor.results({}, std::vector<Job>(6, job(leaving)));
  EXPECT_EQ(peak, 2);
}

TEST(Executor, TheNextOfAChainWaitsForTheConsumer) {  // C-133
  std::atomic<bool> second_started = false;
  const ToolOptions shell{.resource = "shell:s"};
  const ToolPtr first = saying("one", shell);
  const ToolPtr second = tool(
      [&](const Context&, const Call&) {
        second_started = true;
        return text_result("two");
      },
      shell);
  std::latch other_ran(1);
  const ToolPtr other = tool([&](const Context&, const Call&) {
    other_ran.count_down();
    return text_result("other");
  });
  Batch batch = Executor().start({}, {job(first), job(second), job(other)});
  other_ran.wait();
  EXPECT_FALSE(second_started);
  std::vector<std::size_t> finals;
  while (const auto event = batch.next()) {
    finals.push_back(event->index);
  }
  EXPECT_TRUE(second_started);
  EXPECT_EQ(finals.size(), 3U);
}

TEST(Executor, FinishedJobsHoldTheirSlotsUntilTheyAreTaken) {  // C-133
  std::atomic<int> started = 0;
  std::atomic<bool> asked = false;
  std::latch both_ran(2);
  const ToolPtr working = tool([&](const Context&, const Call&) {
    if (++started <= 2) {
      both_ran.count_down();
    } else {
      EXPECT_TRUE(asked) << "started before anything was taken";
    }
    return text_result("");
  });
  Batch batch = Executor({.max_parallel = 2}).start({}, {job(working), job(working), job(working)});
  both_ran.wait();
  for (int i = 0; i < 100; ++i) {
    std::this_thread::yield();
    EXPECT_EQ(started, 2);
  }
  asked = true;
  int finals = 0;
  while (batch.next()) {
    ++finals;
  }
  EXPECT_EQ(finals, 3);
  EXPECT_EQ(started, 3);
}

TEST(Executor, ProgressIsAnEventAndGoesToTheJobsOwnWatcher) {  // C-135, C-150
  const ToolPtr working = tool([](const Context& context, const Call&) {
    progress(context, text_result("1"));
    progress(context, text_result("2"));
    return text_result("done");
  });
  std::vector<std::string> own;
  std::vector<std::string> events;
  const auto consumer = std::this_thread::get_id();
  Job watched = job(working);
  watched.call.on_update = [&](const ToolResult& update) {
    EXPECT_EQ(std::this_thread::get_id(), consumer);
    own.push_back(output_text(update));
  };
  Batch batch = Executor().start({}, {watched});
  while (const auto event = batch.next()) {
    events.push_back((event->final ? "final " : "") + output_text(event->outcome.result));
  }
  EXPECT_THAT(events, ElementsAre("1", "2", "final done"));
  EXPECT_THAT(own, ElementsAre("1", "2"));
}

TEST(Executor, LateProgressIsDroppedAndNeverBlocks) {  // C-134, C-135
  std::function<void(const ToolResult&)> leaked;
  const ToolPtr leaking = tool([&](const Context&, const Call& call) {
    leaked = call.on_update;
    return text_result("done");
  });
  EXPECT_THAT(texts(Executor().results({}, {job(leaking)})), ElementsAre("done"));
  leaked(text_result("late"));
}

TEST(Executor, AThrowingToolBecomesAPanicError) {  // C-101
  const ToolPtr panics =
      tool([](const Context&, const Call&) -> Outcome { throw std::runtime_error("oh\nno"); }, {},
           "panics");
  const ToolPtr odd = tool([](const Context&, const Call&) -> Outcome { throw 7; }, {}, "odd");
  const ToolPtr null =
      tool([](const Context&, const Call&) -> Outcome { throw static_cast<const char*>(nullptr); },
           {}, "null");
  const auto outcomes =
      Executor().results({}, {job(panics), job(odd), job(nullptr, "missing"), job(null)});
  EXPECT_EQ(outcomes[0].error->message(), R"(tool "panics" panicked: "oh\nno")");
  EXPECT_EQ(outcomes[0].error->find<Panic>()->value, "oh\nno");
  EXPECT_EQ(outcomes[0].error->find<Panic>()->type, "std::runtime_error");
  EXPECT_EQ(outcomes[1].error->message(), R"(tool "odd" panicked: int)");
  EXPECT_EQ(outcomes[2].error->message(), R"(no tool for call "missing")");  // C-136
  EXPECT_EQ(outcomes[3].error->message(), R"(tool "null" panicked: char const*)");
}

TEST(Executor, ACancelledBatchStartsNothing) {  // C-136
  const CancelSource source{Context()};
  source.cancel(CancelReason::Deadline);
  int hooks = 0;
  const Executor executor({.on_start = [&](const Context&, const Job&) {
    ++hooks;
    return Result<>();
  }});
  const auto outcomes = executor.results(source.context(), {job(saying("a")), job(saying("b"))});
  EXPECT_EQ(outcomes[0].error->code(), ErrorCode::DeadlineExceeded);
  EXPECT_EQ(outcomes[1].error->code(), ErrorCode::DeadlineExceeded);
  EXPECT_EQ(hooks, 0);
}

TEST(Executor, CancellingABatchKeepsFinishedResultsAndEndsTheRest) {  // C-157
  const CancelSource source{Context()};
  const ToolOptions shell{.resource = "shell:s"};
  Batch batch = Executor().start(
      source.context(),
      {job(saying("done")), job(tool(wait_for_cancellation, shell)), job(saying("never", shell))});
  std::vector<std::string> all(3);
  const auto first = batch.next();
  source.cancel();
  all[first->index] = output_text(model_result(first->outcome));
  while (const auto event = batch.next()) {
    all[event->index] = output_text(model_result(event->outcome));
  }
  EXPECT_THAT(
      all, ElementsAre("done", "Error: the call was cancelled", "Error: the call was cancelled"));
}

TEST(Executor, DroppingABatchCancelsAndWaits) {  // C-138
  std::atomic<int> started = 0;
  std::atomic<int> ended = 0;
  const ToolPtr waits = tool([&](const Context& context, const Call& call) {
    ++started;
    Outcome outcome = wait_for_cancellation(context, call);
    progress(context, text_result("last words"));
    ++ended;
    return outcome;
  });
  {
    Batch batch = Executor({.max_parallel = 3})
                      .start({}, {job(waits), job(waits), job(saying("a")), job(waits)});
    EXPECT_EQ(batch.next()->index, 2U);
  }
  EXPECT_EQ(started, ended);
}

TEST(Executor, TheStartHookSeesTheCallAndMayRefuse) {  // C-137
  std::atomic<bool> ran = false;
  const ToolPtr never = tool([&](const Context&, const Call&) {
    ran = true;
    return text_result("");
  });
  std::string seen;
  const Executor refusing({.on_start = [&](const Context& context, const Job& started) -> Result<> {
    seen = call_from(context)->id + started.call.args;
    progress(context, text_result("from the hook"));
    return fail(ErrorCode::ToolFailed, "journal is full");
  }});
  Job watched = job(never, "c1");
  watched.call.args = "{}";
  std::string update;
  watched.call.on_update = [&](const ToolResult& result) { update = output_text(result); };
  EXPECT_EQ(refusing.results({}, {watched})[0].error->message(), "journal is full");
  EXPECT_EQ(seen, "c1{}");
  EXPECT_EQ(update, "from the hook");
  const Executor throwing({.on_start = [](const Context&, const Job&) -> Result<> {
    throw std::runtime_error("boom");
  }});
  const auto outcome = throwing.results({}, {job(never, "c1")})[0];
  EXPECT_EQ(outcome.error->message(), R"(bawn: on_start for call "c1" panicked: boom)");
  EXPECT_EQ(outcome.error->find<Panic>(), nullptr);
  EXPECT_FALSE(ran);
}

TEST(Executor, TheRecorderNamesTheCall) {  // C-153
  std::vector<std::string> records;
  const Recorder recorder = [&](const Context& context, const Record& record) {
    records.push_back(call_from(context)->id + " " + record.name_space);
    return Result<>();
  };
  const ToolPtr recording = tool([](const Context& context, const Call&) -> Outcome {
    if (const auto written = write_record(context, Record{.name_space = "shell:process-group"});
        !written) {
      return written.error();
    }
    return text_result("");
  });
  (void)Executor({.recorder = recorder}).results({}, {job(recording, "call_1")});
  (void)Executor().results(with_recorder({}, recorder), {job(recording, "call_2")});
  EXPECT_THAT(records, ElementsAre("call_1 shell:process-group", "call_2 shell:process-group"));
}

TEST(Executor, TerminateCountsOnlyWhenAllSayIt) {  // C-140
  const auto hint = [](bool terminate, bool error) {
    Outcome outcome;
    outcome.result.terminate = terminate;
    if (error) {
      outcome.error = Error(ErrorCode::ToolFailed, "x");
    }
    return outcome;
  };
  EXPECT_EQ(termination_of({}), Termination::Continue);
  EXPECT_EQ(termination_of({hint(false, false)}), Termination::Continue);
  EXPECT_EQ(termination_of({hint(true, false), hint(false, false)}), Termination::Partial);
  EXPECT_EQ(termination_of({hint(true, true), hint(true, false)}), Termination::Terminated);
}

TEST(Executor, ManyJobsWithProgressAllEnd) {
  const ToolPtr busy = tool([](const Context& context, const Call&) {
    for (int i = 0; i < 3; ++i) {
      progress(context, text_result("p"));
    }
    return text_result("done");
  });
  std::size_t updates = 0;
  std::size_t finals = 0;
  Batch batch = Executor().start({}, std::vector<Job>(200, job(busy)));
  while (const auto event = batch.next()) {
    ++(event->final ? finals : updates);
  }
  EXPECT_EQ(finals, 200U);
  EXPECT_EQ(updates, 600U);
}

}  // namespace
}  // namespace bawn::contract
