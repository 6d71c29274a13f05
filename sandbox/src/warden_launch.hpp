/// \file
/// Starting stub and warden, and turning the warden's word into the report.
#pragma once

#include "bawn/os/pidfd.hpp"
#include "bawn/sandbox/egress.hpp"
#include "bawn/sandbox/warden.hpp"
#include "cgroup_leaf.hpp"
#include "warden_link.hpp"

#include <chrono>
#include <memory>

namespace bawn::sandbox {

/// A warden that stands and confirmed its wall.
struct Launched {
  std::shared_ptr<WardenLink> link;
  os::Pidfd child;  ///< our direct child: the stub, or the warden itself where there is no stub
  os::Pidfd warden;
  os::UniqueFd life;  ///< without a stub: the pipe whose end tells the warden that we are gone
  std::shared_ptr<CgroupLeaf> cgroup;  ///< null when the plan has none
  std::uint64_t start_time = 0;
  std::uint64_t pid_namespace = 0;
  bool other_numbers = false;                   ///< processes have other numbers there than here
  std::chrono::milliseconds close_limit{2000};  ///< for each step of close()
  contract::Confinement report;
  std::shared_ptr<Egress> egress;  ///< null when the plan has neither proxy nor supervisor
};

/// Errors: as Warden::start.
[[nodiscard]] Result<Launched> launch_warden(const SessionPlan& plan,
                                             const Warden::Options& options);

/// Reads the warden's first word into `launched`, whose link is set. Errors: as Warden::start.
[[nodiscard]] Result<> take_ready(Launched& launched, const SessionPlan& plan);

/// The report that `ready` supports. Errors: Unsupported (a promised layer is not confirmed),
/// Internal (the frame is malformed).
[[nodiscard]] Result<contract::Confinement> confirm(const SessionPlan& plan, const Frame& ready);

/// The sentence of a SetupFailed frame.
[[nodiscard]] Error setup_error(const SessionPlan& plan, const Frame& frame);
[[nodiscard]] Error setup_error(const SessionPlan& plan, wire::Step step, int errnum,
                                std::uint32_t index);

}  // namespace bawn::sandbox
