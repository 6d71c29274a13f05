#include "bawn/sandbox/wall.hpp"

#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/protected_watch.hpp"
#include "scratch_directory.hpp"

#include <utility>

namespace bawn::sandbox {
namespace {

SurveyScope scope_for(const KernelFeatures& features, const Policy& policy) {
  const bool mounts = features.user_namespace.available && features.mount_namespace.available &&
                      features.pid_namespace.available && policy.namespaces != LayerMode::Off;
  return mounts ? SurveyScope::MountsOnly : SurveyScope::Full;
}

Result<Wall> raise_with(const KernelFeatures& features, const WallRequest& request) {
  Place place = BAWN_TRY(survey(request.policy, request.workspace, request.session_dir,
                                scope_for(features, request.policy)));
  Wall wall;
  if (request.policy.enforce && place.has_siblings && place.private_tmp.empty()) {
    wall.scratch = BAWN_TRY(ScratchDirectory::make(place.uid, place.gid));
    place.private_tmp = wall.scratch->path();
  }
  wall.plan = BAWN_TRY(plan_session(request.policy, features, place));
  wall.warden = BAWN_TRY(Warden::start(wall.plan, request.warden));
  wall.watch = ProtectedWatch::start(place, wall.plan.namespaces.clone_flags != 0);
  return wall;
}

}  // namespace

Result<SessionPlan> forecast_wall(const WallRequest& request) {
  const KernelFeatures features = assume_features();
  Place place = BAWN_TRY(survey(request.policy, request.workspace, request.session_dir,
                                scope_for(features, request.policy)));
  if (place.has_siblings && place.private_tmp.empty()) {
    place.private_tmp = "/tmp/bawn-tmp";  // stands for the one that raise_wall makes
  }
  return plan_session(request.policy, features, place);
}

Result<Wall> raise_wall(const WallRequest& request) {
  auto wall = raise_with(assume_features(), request);
  if (wall || !wall.error().is(ErrorCode::Unsupported)) {
    return wall;
  }
  // Only a real probe knows why: an LSM, a container's profile or a sysctl said no.
  auto second = raise_with(probe_features(), request);
  if (!second && second.error().message() != wall.error().message()) {
    return std::unexpected(std::move(second).error().with_cause(std::move(wall).error()));
  }
  return second;
}

}  // namespace bawn::sandbox
