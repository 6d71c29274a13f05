/// \file
/// The executor under everything at once: many jobs on a few chains, tools that throw, send
/// progress from threads of their own and ignore cancellation, consumers that are slow or leave
/// early, and cancellation at any moment. Under the sanitizers it is run with
/// BAWN_STRESS_ROUNDS=1000.
#include "bawn/contract/executor.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/progress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>

namespace bawn::contract {
namespace {

constexpr std::size_t kJobs = 64;
constexpr std::size_t kChains = 8;
constexpr int kBound = 8;

int rounds() {
  const char* const text = std::getenv("BAWN_STRESS_ROUNDS");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? std::max(1, std::atoi(text)) : 25;  // NOLINT(cert-err34-c): 0 becomes 1
}

/// One batch with what its tools and its consumer must never see.
class Round {
 public:
  explicit Round(std::uint64_t seed) : random_(seed) {}

  void run() {
    const CancelSource source{Context()};
    const bool cancels = random_() % 2 == 0;
    cancel_after_ = random_() % (2 * kJobs);
    const bool leaves = random_() % 4 == 0;
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < kJobs; ++i) {
      jobs.push_back(make_job(i));
    }
    Batch batch = Executor({.max_parallel = kBound}).start(source.context(), std::move(jobs));
    std::thread canceller([&] {
      moment_.acquire();
      if (cancels) {
        source.cancel(CancelReason::Deadline);
      }
    });
    consume(batch, leaves ? random_() % kJobs : kJobs);
    if (!leaves) {
      EXPECT_EQ(finals_, kJobs);
    }
    moment_.release();
    canceller.join();
  }

  ~Round() {
    for (std::thread& late : late_) {
      if (late.joinable()) {
        late.join();
      }
    }
  }

 private:
  Job make_job(std::size_t index) {
    const std::size_t chain = index % kChains;
    const std::uint64_t kind = random_() % 4;
    ToolPtr tool =
        make_raw_tool("t", "", std::nullopt,
                      [this, index, chain, kind](const Context& context, const Call& call) {
                        return work(index, chain, kind, context, call);
                      },
                      {.resource = "chain:" + std::to_string(chain)})
            .value();
    return {.tool = index % 16 == 15 ? nullptr : std::move(tool),
            .call = {.id = std::to_string(index), .on_update = [this, index](const ToolResult&) {
                       EXPECT_FALSE(ended_[index]);
                     }}};
  }

  Outcome work(std::size_t index, std::size_t chain, std::uint64_t kind, const Context& context,
               const Call& call) {
    EXPECT_LE(inside_.fetch_add(1) + 1, kBound);
    EXPECT_EQ(on_chain_[chain].fetch_add(1), 0);
    started_[index] = true;
    progress(context, text_result("one"));
    std::this_thread::yield();
    if (kind == 1) {  // the only user of this slot
      late_[index] = std::thread([send = call.on_update] { send(text_result("late")); });
    }
    progress(context, text_result("two"));
    on_chain_[chain].fetch_sub(1);
    inside_.fetch_sub(1);
    if (kind == 2) {
      throw std::runtime_error("thrown");
    }
    return kind == 3 ? Outcome(Error(ErrorCode::ToolFailed, "failed")) : text_result("done");
  }

  void consume(Batch& batch, std::size_t most) {
    while (finals_ < most) {
      const auto event = batch.next();
      if (!event) {
        return;
      }
      if (events_++ == cancel_after_) {
        moment_.release();  // another thread cancels while this one goes on
      }
      EXPECT_FALSE(ended_[event->index]);
      if (event->final) {
        ended_[event->index] = true;
        ++finals_;
        if (!started_[event->index]) {
          continue;  // no tool, or cancelled: that ends at once
        }
        std::size_t& last = last_on_chain_[event->index % kChains];
        EXPECT_GE(event->index + 1, last);
        last = event->index + 1;
      }
      for (std::uint64_t i = random_() % 3; i > 0; --i) {
        std::this_thread::yield();
      }
    }
  }

  std::mt19937_64 random_;
  std::counting_semaphore<> moment_{0};
  std::size_t cancel_after_ = 0;
  std::size_t events_ = 0;
  std::atomic<int> inside_ = 0;
  std::array<std::atomic<int>, kChains> on_chain_{};
  std::array<std::atomic<bool>, kJobs> started_{};
  std::array<std::thread, kJobs> late_{};
  std::array<bool, kJobs> ended_{};                   // of the consumer
  std::array<std::size_t, kChains> last_on_chain_{};  // of the consumer
  std::size_t finals_ = 0;                            // of the consumer
};

TEST(ExecutorStress, EveryJobEndsOnceInItsChainsOrderWhateverHappens) {  // C-133 C-134 C-138 C-157
  for (int i = 0; i < rounds(); ++i) {
    Round round(static_cast<std::uint64_t>(i));
    round.run();
    if (HasFailure()) {
      FAIL() << "in round " << i;
    }
  }
}

}  // namespace
}  // namespace bawn::contract
