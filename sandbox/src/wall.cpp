#include "bawn/sandbox/wall.hpp"

#include "bawn/sandbox/features.hpp"

#include <utility>

namespace bawn::sandbox {
namespace {

Result<Wall> raise_with(const KernelFeatures& features, const WallRequest& request,
                        const Place& place) {
  SessionPlan plan = BAWN_TRY(plan_session(request.policy, features, place));
  auto warden = BAWN_TRY(Warden::start(plan, request.warden));
  return Wall{std::move(plan), std::move(warden)};
}

}  // namespace

Result<SessionPlan> forecast_wall(const WallRequest& request) {
  const Place place = BAWN_TRY(survey(request.policy, request.workspace, request.session_dir));
  return plan_session(request.policy, assume_features(), place);
}

Result<Wall> raise_wall(const WallRequest& request) {
  const Place place = BAWN_TRY(survey(request.policy, request.workspace, request.session_dir));
  auto wall = raise_with(assume_features(), request, place);
  if (wall || !wall.error().is(ErrorCode::Unsupported)) {
    return wall;
  }
  // Only a real probe knows why: an LSM, a container's profile or a sysctl said no.
  auto second = raise_with(probe_features(), request, place);
  if (!second) {
    return std::unexpected(std::move(second).error().with_cause(std::move(wall).error()));
  }
  return second;
}

}  // namespace bawn::sandbox
