#include "bawn/contract/resource_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace {

using bawn::contract::CancelSource;
using bawn::contract::Context;
using bawn::contract::ErrorCode;
using bawn::contract::ResourceOrder;

TEST(ResourceOrderTest, SharersRunInTheOrderOfTheirArrival) {
  ResourceOrder order;
  constexpr int kCalls = 16;
  std::vector<ResourceOrder::Place> places;
  for (int i = 0; i < kCalls; ++i) {
    places.push_back(order.arrive());
  }
  std::vector<int> ran;
  std::vector<std::thread> threads;
  for (int i = kCalls; i-- > 0;) {  // the last one asks first
    threads.emplace_back([&, i, place = std::move(places[static_cast<std::size_t>(i)])]() mutable {
      EXPECT_TRUE(place.wait(Context(), {"other", "file:/a"}));
      ran.push_back(i);  // alone: no lock is needed
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_EQ(ran.size(), static_cast<std::size_t>(kCalls));
  EXPECT_TRUE(std::ranges::is_sorted(ran));
}

TEST(ResourceOrderTest, WhatSharesNothingDoesNotWait) {
  ResourceOrder order;
  auto first = order.arrive();
  auto second = order.arrive();
  auto third = order.arrive();
  ASSERT_TRUE(first.wait(Context(), {"file:/a"}));
  EXPECT_TRUE(second.wait(Context(), {"file:/b"}));
  EXPECT_TRUE(third.wait(Context(), {}));
}

TEST(ResourceOrderTest, ALookAtADirectoryWaitsForWhatIsInItAndNotForOtherLooks) {
  const auto waits = [](const std::string& before, const std::string& behind) {
    ResourceOrder order;
    auto first = order.arrive();
    auto second = order.arrive();
    EXPECT_TRUE(first.wait(Context(), {"other", before}));
    const auto at_once = Context().with_deadline(Context::Clock::now());
    return !second.wait(at_once, {behind, "another"});
  };
  for (const auto& [one, other, expected] :
       {std::tuple{"file:/a/", "file:/a/b", true}, std::tuple{"file:/a/", "file:/a", true},
        std::tuple{"file:/", "file:/a/b", true}, std::tuple{"file:/a/b", "file:/a/b", true},
        std::tuple{"file:/a/", "file:/a/", false}, std::tuple{"file:/", "file:/a/", false},
        std::tuple{"file:/a/", "file:/ab", false}, std::tuple{"file:/a", "file:/a/b", false}}) {
    EXPECT_EQ(waits(one, other), expected) << one << " and " << other;
    EXPECT_EQ(waits(other, one), expected) << other << " and " << one;
  }
}

TEST(ResourceOrderTest, OneThatHasNotSaidWhatItSharesHoldsThoseBehindIt) {
  ResourceOrder order;
  auto first = order.arrive();
  auto second = order.arrive();
  std::atomic<bool> first_said = false;
  auto waited = std::async(std::launch::async, [&] {
    const bool mine = second.wait(Context(), {"file:/b"}).has_value();
    return mine && first_said;
  });
  first_said = true;
  EXPECT_TRUE(first.wait(Context(), {"file:/a"}));
  EXPECT_TRUE(waited.get());
}

TEST(ResourceOrderTest, ACancelledWaiterLeavesTheLine) {
  ResourceOrder order;
  auto first = order.arrive();
  auto second = order.arrive();
  auto third = order.arrive();
  ASSERT_TRUE(first.wait(Context(), {"file:/a"}));
  const CancelSource source{Context()};
  auto waited =
      std::async(std::launch::async, [&] { return second.wait(source.context(), {"file:/a"}); });
  source.cancel();
  const auto cancelled = waited.get();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code(), ErrorCode::Cancelled);
  first.leave();
  EXPECT_TRUE(third.wait(Context(), {"file:/a"}));
}

TEST(ResourceOrderTest, ADeadlineEndsTheWait) {
  ResourceOrder order;
  auto first = order.arrive();
  auto second = order.arrive();
  ASSERT_TRUE(first.wait(Context(), {"file:/a"}));
  const auto late = second.wait(Context().with_deadline(Context::Clock::now()), {"file:/a"});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::DeadlineExceeded);
}

TEST(ResourceOrderTest, ADefaultPlaceWaitsForNobody) {
  ResourceOrder::Place place;
  EXPECT_TRUE(place.wait(Context(), {"file:/a"}));
  place.leave();
}

}  // namespace
