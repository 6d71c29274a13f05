/// \file
/// The way from a request to a plan that the two kinds of walls share: a session's, and that of one
/// command.
#pragma once

#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/wall.hpp"

#include <memory>
#include <utility>

namespace bawn::sandbox {

struct PlannedWall {
  Place place;
  SessionPlan plan;
  std::shared_ptr<const ScratchDirectory> scratch;  ///< as in Wall
};

/// Errors: as survey() and plan_session().
[[nodiscard]] Result<PlannedWall> plan_wall(const KernelFeatures& features,
                                            const WallRequest& request);

/// Tries `raise` by a cheap look at the kernel, and when something cannot be had once more by what
/// a real probe says: only that knows why an LSM, a container's profile or a sysctl said no.
template <class Raise>
auto with_features(const Raise& raise) -> decltype(raise(std::declval<KernelFeatures>())) {
  auto wall = raise(assume_features());
  if (wall || !wall.error().is(ErrorCode::Unsupported)) {
    return wall;
  }
  auto second = raise(probe_features());
  if (!second && second.error().message() != wall.error().message()) {
    return std::unexpected(std::move(second).error().with_cause(std::move(wall).error()));
  }
  return second;
}

}  // namespace bawn::sandbox
