/// \file
/// Sessions behind walls that somebody else built: in a container, whose main process is a warden.
/// The engine holds files, network and processes; inside, Landlock and seccomp stand as a second
/// wall around each session.
#pragma once

#include "bawn/os/pidfd.hpp"
#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/warden.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// What a container gives a session, as read back from its engine. Paths are those inside.
struct Inside {
  std::string container;  ///< its name
  std::string workspace;  ///< absolute
  std::string home;       ///< absolute
  std::uint32_t uid = 0;  ///< who commands run as, as the container counts
  std::uint32_t gid = 0;
  std::string session_dir;  ///< with r/ and w/; the same path on both sides of a bind mount
  /// What can be written: {"/"} where the root can be, else the mounts that can. Absolute.
  std::vector<std::string> writable;
  bool network = false;              ///< it has more than its own loopback
  bool keep_capabilities = false;    ///< the engine left it some on purpose
  std::vector<std::string> missing;  ///< what the engine does not hold, one sentence each
};

/// The policy "container" of a session inside.
[[nodiscard]] Policy inside_policy(const Inside& inside);

/// Plans a session inside: no mounts and no namespaces of ours. Pure.
///
/// Errors: as plan_seccomp().
[[nodiscard]] Result<SessionPlan> plan_inside(const KernelFeatures& features, const Inside& inside);

/// The warden's program: `wanted` itself, or when that is empty the one beside this program, or the
/// install's libexec.
///
/// Errors: NotFound, naming the places.
[[nodiscard]] Result<std::string> find_warden_program(const std::string& wanted);

/// A warden that was started by somebody else and waits for its plan.
struct WaitingWarden {
  os::UniqueFd stream;  ///< our end; the other one is the warden's
  int pid = 0;          ///< the warden's number here
  os::Pidfd child;      ///< whose end tells that everything is gone; collected when it is ours
};

/// Gives the warden its plan and takes it over. Closing the Warden ends `child`, too.
///
/// Errors and blocking: as Warden::start().
[[nodiscard]] Result<std::shared_ptr<Warden>> hand_plan(WaitingWarden waiting,
                                                        const SessionPlan& plan);

/// One more session beside `first`, the container's main process: starts `program`, the warden's
/// path inside, through it. `marker` names the session's processes among those of `first`.
///
/// Errors: as Warden::spawn() and Warden::start(). Blocking: some milliseconds.
[[nodiscard]] Result<std::shared_ptr<Warden>> start_beside(Warden& first,
                                                           const std::string& program,
                                                           const SessionPlan& plan,
                                                           const std::string& marker);

}  // namespace bawn::sandbox
