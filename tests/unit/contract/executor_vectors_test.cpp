/// \file
/// The shared vectors of the executor: chains, batches, termination.
#include "bawn/contract/call_context.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/progress.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace bawn::contract {
namespace {

using bawn::test::play_rows;
using bawn::test::vectors;

TEST(ExecutorVectors, ChainsAreGroupedAsGiven) {  // C-132
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("executor/chains.json");
  std::map<std::string, ToolPtr> tools;
  for (const auto& [name, about] : file.at("tools").items()) {
    tools[name] = about.is_null()
                      ? nullptr
                      : make_raw_tool(name, "", std::nullopt,
                                      [](const Context&, const Call&) { return text_result(""); },
                                      {.sequential = about.value("sequential", false),
                                       .resource = about.value("resource", "")})
                            .value();
  }
  EXPECT_EQ(file.at("default_max_parallel"), kDefaultMaxParallel);
  const auto play = [&](const Json& entry) {
    std::vector<Job> jobs;
    for (const Json& name : entry.at("jobs")) {
      jobs.push_back({.tool = tools.at(name.get<std::string>()), .call = {.id = "c"}});
    }
    const Executor executor(
        {.max_parallel = entry.at("max_parallel"), .sequential = entry.at("force_sequential")});
    EXPECT_EQ(Json(executor.chains(jobs)), entry.at("chains"));
  };
  play_rows(file.at("cases"),
            {"origin", "name", "jobs", "max_parallel", "force_sequential", "chains"}, play);
}

TEST(ExecutorVectors, TerminationIsDecidedAsGiven) {  // C-140
  BAWN_REQUIRE("shared-vectors");
  const std::map<std::string, Termination> names = {{"terminated", Termination::Terminated},
                                                    {"partial", Termination::Partial},
                                                    {"continue", Termination::Continue}};
  const Json file = vectors("executor/terminate.json");
  play_rows(file.at("cases"), {"flags", "outcome", "why"}, [&](const Json& entry) {
    std::vector<Outcome> outcomes;
    for (const Json& flag : entry.at("flags")) {
      Outcome outcome;
      outcome.result.terminate = flag == true || flag == "error+true";
      if (flag == "error+true") {
        outcome.error = Error(ErrorCode::ToolFailed, "it failed");
      }
      outcomes.push_back(std::move(outcome));
    }
    EXPECT_EQ(termination_of(outcomes), names.at(entry.at("outcome").get<std::string>()));
  });
}

/// One script of batches.json, played. A job's `sleep` is played by its rank: it ends once every
/// shorter one of the batch has been consumed, so that no real time decides the order.
class Script {
 public:
  explicit Script(Json script) : script_(std::move(script)) {}

  void play() {
    const Json& jobs = script_.at("jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs_.push_back(make_job(jobs[i], i));
    }
    const int bound = script_.value("max_parallel", 0);
    const bool serial = script_.value("force_sequential", false) || any_sequential();
    ranked_ = !serial && (bound == 0 || bound >= static_cast<int>(jobs.size()));
    CancelSource source{Context()};
    if (script_.value("cancelled", false)) {
      source.cancel();
    }
    const Executor executor(options(bound));
    if (script_.contains("chains")) {
      EXPECT_EQ(Json(executor.chains(jobs_)), script_.at("chains"));
    }
    consume(executor.start(source.context(), jobs_));
    for (std::thread& late : late_) {
      late.join();
    }
  }

  void check() {
    EXPECT_TRUE(!script_.contains("final_order") || script_.at("final_order") == Json(order_));
    const Json none = Json::object();
    const auto wanted = [&](const char* what) -> const Json& {
      return script_.contains(what) ? script_.at(what) : none;
    };
    for (const auto& [index, error] : wanted("errors").items()) {
      EXPECT_EQ(errors_[index], ours(error));
    }
    for (const auto& [index, text] : wanted("texts").items()) {
      EXPECT_EQ(texts_[index], text);
    }
    for (const auto& [index, updates] : wanted("progress").items()) {
      EXPECT_EQ(progress_.value(index, Json::array()), updates);
      EXPECT_EQ(watched_.value(index, Json::array()), updates);
    }
    if (script_.contains("results_in_job_order")) {
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        EXPECT_EQ(texts_[std::to_string(i)], script_.at("results_in_job_order")[i]);
      }
    }
    if (script_.contains("peak")) {
      EXPECT_LE(peak_, script_.at("peak").get<int>());
      EXPECT_GE(peak_, script_.at("peak_is") == "exactly" ? script_.at("peak").get<int>() : 1);
    }
    check_rest();
  }

 private:
  // The executor's own texts begin with its own name here.
  static std::string ours(const Json& text) {
    std::string changed = text;
    constexpr std::string_view kTheirs = "agenttool: OnStart for";
    if (changed.starts_with(kTheirs)) {
      changed.replace(0, kTheirs.size(), "bawn: on_start for");
    }
    return changed;
  }

  void check_rest() {
    if (script_.contains("every_error")) {
      EXPECT_EQ(errors_.size(), jobs_.size());
      for (const auto& [index, error] : errors_.items()) {
        EXPECT_NE(error.get<std::string>().find(script_.at("every_error").get<std::string>()),
                  std::string::npos);
      }
    }
    if (script_.contains("on_start_calls")) {
      EXPECT_EQ(starts_, script_.at("on_start_calls").get<int>());
    }
    if (script_.contains("tool_ran")) {
      EXPECT_EQ(ran_ > 0, script_.at("tool_ran").get<bool>());
    }
    if (script_.contains("is_panic_error")) {
      EXPECT_FALSE(panic_error_);
    }
    if (script_.contains("events")) {
      EXPECT_EQ(order_.size(), script_.at("events").get<std::size_t>());
    }
    if (script_.value("stop_after_first_final", false)) {
      EXPECT_EQ(order_.size(), 1U);
      EXPECT_EQ(cancelled_, ran_ - 1);  // one that had not started yet never ran
    }
    if (script_.contains("records")) {
      EXPECT_EQ(records_, script_.at("records"));
      EXPECT_TRUE(recorded_before_end_);
    }
    if (script_.contains("rule")) {
      EXPECT_EQ(shell_order_.size(), 2U);
    }
    if (script_.contains("shell_order")) {
      EXPECT_EQ(Json(shell_order_), script_.at("shell_order"));
      EXPECT_EQ(readers_, script_.at("reads_overlap").get<int>());
    }
  }

  bool any_sequential() const {
    return std::ranges::any_of(jobs_,
                               [](const Job& job) { return job.tool && is_sequential(*job.tool); });
  }

  ExecutorOptions options(int bound) {
    ExecutorOptions options{.max_parallel = bound,
                            .sequential = script_.value("force_sequential", false)};
    if (script_.contains("recorder")) {
      options.recorder = [this](const Context& context, const Record& record) -> Result<> {
        const std::scoped_lock lock(mutex_);
        records_.push_back({{"call", call_from(context)->id},
                            {"ns", record.name_space},
                            {"data", dump_json(record.data)}});
        return {};
      };
    }
    options.on_start = [this](const Context&, const Job&) -> Result<> {
      {
        const std::scoped_lock lock(mutex_);
        ++starts_;
      }
      if (script_.contains("on_start_throws")) {
        throw std::runtime_error(script_.at("on_start_throws").get<std::string>());
      }
      if (script_.contains("on_start_error")) {
        return fail(ErrorCode::Internal, script_.at("on_start_error"));
      }
      return {};
    };
    return options;
  }

  Job make_job(const Json& about, std::size_t index) {
    if (about.is_object()) {
      bawn::test::expect_known_members(
          about, {"sleep", "text", "name", "call_id", "tool", "throws", "updates", "sequential",
                  "updates_after_return", "writes_record"});
    }
    Job job;
    job.call.id = "call_" + std::to_string(index);
    if (about.is_string()) {
      const std::string name = about;
      const bool shell = name.starts_with("shell:");
      job.tool = make_raw_tool("t", "", std::nullopt,
                               [this, name, shell](const Context&, const Call&) {
                                 return shell ? run_in_shell(name.substr(6)) : read_beside_others();
                               },
                               {.resource = shell ? "shell:session" : ""})
                     .value();
      return job;
    }
    job.call.id = about.value("call_id", job.call.id);
    if (about.contains("updates")) {
      job.call.on_update = [this, index](const ToolResult& update) {
        watched_[std::to_string(index)].push_back(output_text(update));
      };
    }
    if (!about.contains("tool") || !about.at("tool").is_null()) {
      job.tool = make_raw_tool(about.value("name", "t"), "", std::nullopt,
                               [this, about, index](const Context& context, const Call& call) {
                                 return run(about, index, context, call);
                               },
                               {.sequential = about.value("sequential", false)})
                     .value();
    }
    return job;
  }

  Outcome run(const Json& about, std::size_t index, const Context& context, const Call& call) {
    enter();
    wait_for_shorter(about.value("sleep", 0), index, context);
    leave(context);
    if (about.contains("throws")) {
      throw std::runtime_error(about.at("throws").get<std::string>());
    }
    const Json updates = about.value("updates", Json::array());
    for (const Json& update : updates) {
      progress(context, text_result(update));
    }
    if (about.contains("writes_record")) {
      const Json& record = about.at("writes_record");
      EXPECT_TRUE(write_record(context, Record{record.at("ns"), record.at("data")}));
      recorded_before_end_ = records_.size() == 1;
    }
    if (about.contains("updates_after_return")) {
      late_.emplace_back([this, index, times = about.at("updates_after_return").get<int>(),
                          send = call.on_update] {
        wait_until_consumed(index);
        for (int i = 0; i < times; ++i) {
          send(text_result("late"));
        }
      });
    }
    return text_result(about.value("text", ""));
  }

  void enter() {
    const std::scoped_lock lock(mutex_);
    ++ran_;
    peak_ = std::max(peak_, ++running_);
  }
  void leave(const Context& context) {
    const std::scoped_lock lock(mutex_);
    --running_;
    cancelled_ += context.cancelled() ? 1 : 0;
  }

  void wait_for_shorter(int sleep, std::size_t index, const Context& context) {
    constexpr int kUntilCancelled = 1000;  // "longer than the test": ends by cancellation alone
    std::unique_lock lock(mutex_);
    changed_.wait(lock, context.stop_token(), [&] {
      if (sleep >= kUntilCancelled) {
        return false;
      }
      const Json& jobs = script_.at("jobs");
      for (std::size_t i = 0; ranked_ && i < jobs.size(); ++i) {
        if (i != index && jobs[i].value("sleep", 0) < sleep && !consumed_.contains(i)) {
          return false;
        }
      }
      return true;
    });
  }

  void wait_until_consumed(std::size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return consumed_.contains(index); });
  }

  Outcome run_in_shell(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    shell_order_.push_back(name);
    changed_.notify_all();
    return text_result("");
  }
  // Returns once all readers of the script are inside at once.
  Outcome read_beside_others() {
    std::unique_lock lock(mutex_);
    ++readers_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return readers_ == script_.at("reads_overlap").get<int>(); });
    return text_result("");
  }

  // The rule of the one script that has one: the chain's second job waits for the consumer.
  void hold_back() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !shell_order_.empty(); });
    EXPECT_EQ(shell_order_.size(), 1U);
  }

  void consume(Batch batch) {
    if (script_.contains("rule")) {
      hold_back();
    }
    while (auto event = batch.next()) {
      const std::string key = std::to_string(event->index);
      if (!event->final) {
        progress_[key].push_back(output_text(event->outcome.result));
        continue;
      }
      order_.push_back(event->index);
      if (event->outcome.error) {
        errors_[key] = event->outcome.error->message();
        panic_error_ = event->outcome.error->find<Panic>() != nullptr;
      }
      texts_[key] = output_text(event->outcome.result);
      const std::scoped_lock lock(mutex_);
      consumed_.insert(event->index);
      changed_.notify_all();
      if (script_.value("stop_after_first_final", false)) {
        return;
      }
    }
  }

  Json script_;
  std::vector<Job> jobs_;
  bool ranked_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<std::size_t> consumed_;
  std::vector<std::thread> late_;
  std::vector<std::size_t> order_;
  std::vector<std::string> shell_order_;
  Json errors_ = Json::object();
  Json texts_ = Json::object();
  Json progress_ = Json::object();
  Json watched_ = Json::object();
  Json records_ = Json::array();
  int ran_ = 0;
  int running_ = 0;
  int peak_ = 0;
  int starts_ = 0;
  int readers_ = 0;
  int cancelled_ = 0;
  bool panic_error_ = false;
  bool recorded_before_end_ = false;
};

TEST(ExecutorVectors, BatchesBehaveAsTheirScriptsSay) {  // C-130, C-133 to C-138, C-153, C-154
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("executor/batches.json");
  // "finishes_within_ms" needs no clock: what would take longer ends by cancellation alone, and
  // that it was cancelled is checked.
  play_rows(file.at("cases"),
            {"name",
             "jobs",
             "max_parallel",
             "force_sequential",
             "cancelled",
             "final_order",
             "results_in_job_order",
             "peak",
             "peak_is",
             "progress",
             "errors",
             "texts",
             "stop_after_first_final",
             "finishes_within_ms",
             "every_error",
             "on_start_calls",
             "shell_order",
             "reads_overlap",
             "on_start_error",
             "on_start_throws",
             "is_panic_error",
             "tool_ran",
             "rule",
             "events",
             "chains",
             "recorder",
             "records",
             "recorded_before_the_call_ends"},
            [](const Json& entry) {
              Script script(entry);
              script.play();
              script.check();
            });
}

}  // namespace
}  // namespace bawn::contract
