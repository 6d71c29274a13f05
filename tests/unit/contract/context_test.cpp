#include "bawn/contract/context.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace bawn::contract {
namespace {

using std::chrono::seconds;

const Context::Clock::time_point kNow{seconds(1000)};

TEST(Context, TheRootNeverEndsAndHoldsNothing) {
  const Context root;
  EXPECT_FALSE(root.cancelled());
  EXPECT_FALSE(root.ended_at(kNow));
  EXPECT_FALSE(root.reason());
  EXPECT_FALSE(root.deadline());
  EXPECT_FALSE(root.stop_token().stop_possible());
  EXPECT_EQ(root.find<int>(), nullptr);
}

TEST(Context, CancellingAParentEndsItsChildrenWithItsReason) {
  const CancelSource parent{Context()};
  const CancelSource child(parent.context());
  const Context leaf = child.context().with(5);
  parent.cancel(CancelReason::Closed);
  EXPECT_TRUE(leaf.cancelled());
  EXPECT_EQ(leaf.reason(), CancelReason::Closed);
}

TEST(Context, CancellingAChildLeavesItsParentAlone) {
  const CancelSource parent{Context()};
  const CancelSource child(parent.context());
  child.cancel();
  EXPECT_TRUE(child.context().cancelled());
  EXPECT_FALSE(parent.context().cancelled());
}

TEST(Context, TheFirstReasonIsKept) {
  const CancelSource source{Context()};
  source.cancel(CancelReason::Deadline);
  source.cancel(CancelReason::Cancelled);
  EXPECT_EQ(source.context().reason(), CancelReason::Deadline);
}

TEST(Context, AChildOfACancelledParentIsCancelledFromBirth) {
  const CancelSource parent{Context()};
  parent.cancel(CancelReason::Closed);
  const CancelSource child(parent.context());
  EXPECT_EQ(child.context().reason(), CancelReason::Closed);
}

TEST(Context, TheNearestDeadlineCounts) {
  const Context outer = Context().with_deadline(kNow + seconds(5));
  EXPECT_EQ(outer.with_deadline(kNow + seconds(9)).deadline(), kNow + seconds(5));
  EXPECT_EQ(outer.with_deadline(kNow + seconds(1)).deadline(), kNow + seconds(1));
}

TEST(Context, ADeadlineEndsItAtItsMomentWithoutARequest) {
  const Context context = Context().with_deadline(kNow);
  EXPECT_FALSE(context.ended_at(kNow - seconds(1)));
  EXPECT_TRUE(context.ended_at(kNow));
  EXPECT_FALSE(context.cancelled());
}

TEST(Context, ValuesAreFoundByTypeNearestFirst) {
  const Context outer = Context().with(std::string("outer")).with(1);
  const Context inner = outer.with(2);
  ASSERT_NE(inner.find<int>(), nullptr);
  EXPECT_EQ(*inner.find<int>(), 2);
  EXPECT_EQ(*outer.find<int>(), 1);
  EXPECT_EQ(*inner.find<std::string>(), "outer");
}

TEST(Context, DetachedKeepsValuesAndDropsCancellationAndDeadline) {
  const CancelSource source{Context().with(7)};
  const Context detached = source.context().with_deadline(kNow).detached();
  source.cancel();
  EXPECT_FALSE(detached.ended_at(kNow));
  EXPECT_EQ(*detached.find<int>(), 7);
}

TEST(Context, ACallbackMayDropTheLastReferenceToItsOwnContext) {
  const CancelSource parent{Context()};
  auto child = std::make_unique<CancelSource>(parent.context());
  int calls = 0;
  const std::stop_token token = child->context().stop_token();
  const std::stop_callback callback(token, [&] {
    ++calls;
    child.reset();
  });
  parent.cancel();
  EXPECT_EQ(calls, 1);
}

TEST(Context, ConcurrentCancelAndUseAreSafe) {
  const CancelSource parent{Context()};
  std::atomic<int> ended = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (!parent.context().cancelled()) {
          const CancelSource child(parent.context());
          (void)child.context().reason();
          std::this_thread::yield();
        }
        ++ended;
      });
    }
    parent.cancel();
  }
  EXPECT_EQ(ended, 4);
}

}  // namespace
}  // namespace bawn::contract
