#include "bawn/sandbox/wall.hpp"

#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/protected_watch.hpp"
#include "scratch_directory.hpp"
#include "wall_plan.hpp"

#include <utility>

namespace bawn::sandbox {
namespace {

SurveyScope scope_for(const KernelFeatures& features, const Policy& policy) {
  const bool mounts = features.user_namespace.available && features.mount_namespace.available &&
                      features.pid_namespace.available && policy.namespaces != LayerMode::Off;
  return mounts ? SurveyScope::MountsOnly : SurveyScope::Full;
}

Result<SessionPlan> plan_on_paper(const KernelFeatures& features, const WallRequest& request,
                                  SurveyScope scope) {
  Place place = BAWN_TRY(survey(request.policy, request.workspace, request.session_dir, scope));
  if (place.has_siblings && place.private_tmp.empty()) {
    place.private_tmp = "/tmp/bawn-tmp";  // stands for the one that raise_wall makes
  }
  return plan_session(request.policy, features, place);
}

Result<Wall> raise_with(const KernelFeatures& features, const WallRequest& request) {
  PlannedWall planned = BAWN_TRY(plan_wall(features, request));
  Wall wall;
  wall.plan = std::move(planned.plan);
  wall.scratch = std::move(planned.scratch);
  // Joined before there is a domain. For most users and places there is none, which is no failure.
  constexpr int kRecords = 7;
  if (features.is_root && wall.plan.landlock.abi >= kRecords) {
    wall.audit = AuditLog::open().value_or(nullptr);
  }
  wall.warden = BAWN_TRY(Warden::start(wall.plan, request.warden));
  if (wall.audit != nullptr) {
    wall.audit->follow(wall.warden->pid());
  }
  wall.watch = ProtectedWatch::start(planned.place, wall.plan.namespaces.clone_flags != 0);
  return wall;
}

}  // namespace

Result<PlannedWall> plan_wall(const KernelFeatures& features, const WallRequest& request) {
  PlannedWall planned;
  planned.place = BAWN_TRY(survey(request.policy, request.workspace, request.session_dir,
                                  scope_for(features, request.policy)));
  if (request.policy.enforce && planned.place.has_siblings && planned.place.private_tmp.empty()) {
    planned.scratch = BAWN_TRY(ScratchDirectory::make(planned.place.uid, planned.place.gid));
    planned.place.private_tmp = planned.scratch->path();
  }
  planned.plan = BAWN_TRY(plan_session(request.policy, features, planned.place));
  return planned;
}

Result<SessionPlan> forecast_wall(const WallRequest& request) {
  const KernelFeatures features = assume_features();
  return plan_on_paper(features, request, scope_for(features, request.policy));
}

Result<std::string> check_wall(const WallRequest& request) {
  const KernelFeatures features = assume_features();
  const SurveyScope needed = scope_for(features, request.policy);
  const SurveyScope scope = needed == SurveyScope::Full ? needed : SurveyScope::Roots;
  return BAWN_TRY(plan_on_paper(features, request, scope)).workspace;
}

Result<Wall> raise_wall(const WallRequest& request) {
  return with_features([&](KernelFeatures features) {
    if (request.warden.relay != nullptr) {
      features.cgroup_v2 = {.available = false, .reason = "the session is behind a relay"};
      features.cgroup_controllers.clear();
    }
    return raise_with(features, request);
  });
}

}  // namespace bawn::sandbox
