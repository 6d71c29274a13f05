/// \file
/// One call from a policy to a running warden: look at the place, plan, start, and plan again with
/// measured features where the kernel refused what the cheap look had promised.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/sandbox/audit.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/warden.hpp"

#include <memory>
#include <string>

namespace bawn::sandbox {

class ProtectedWatch;
class ScratchDirectory;

struct WallRequest {
  Policy policy;
  std::string workspace;    ///< absolute or relative to the current directory
  std::string session_dir;  ///< bawn's directory for the session, with r/ and w/; may be empty
  Warden::Options warden;
};

/// A session's wall: the plan it was built by and the warden that stands in it.
struct Wall {
  SessionPlan plan;
  /// The private temporary directory of a wall without mounts; goes after the warden has ended.
  std::shared_ptr<const ScratchDirectory> scratch;
  std::shared_ptr<Warden> warden;
  /// Sees what becomes of protected names that no layer holds; null when there are none.
  std::shared_ptr<ProtectedWatch> watch;
  /// The kernel's records of what Landlock denied in it; null where they cannot be read.
  std::shared_ptr<AuditLog> audit;
};

/// The plan that `raise_wall` would try first: a forecast for `tools/list` and `doctor`.
///
/// Errors: as survey() and plan_session(). Blocking: file reads only.
[[nodiscard]] Result<SessionPlan> forecast_wall(const WallRequest& request);

/// Whether a wall can be built: the workspace's canonical path. Where mounts can be had it does not
/// search the workspace for repositories as forecast_wall() does: no plan fails by them, and the
/// search takes up to 0.1 s of CPU time.
///
/// Errors and blocking otherwise: as forecast_wall().
[[nodiscard]] Result<std::string> check_wall(const WallRequest& request);

/// Builds the wall. The first plan trusts a cheap look at the kernel; if the warden cannot keep it,
/// the features are probed for real and a second plan decides. A required guarantee that is lost on
/// the way is an error, never a weaker session.
///
/// Errors: as survey(), plan_session() and Warden::start().
/// Blocking: until the warden serves, some milliseconds. Threads: thread-safe, except with
/// `warden.fork_stub`, which needs a process of one thread.
[[nodiscard]] Result<Wall> raise_wall(const WallRequest& request);

}  // namespace bawn::sandbox
