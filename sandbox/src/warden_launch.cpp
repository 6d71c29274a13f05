#include "warden_launch.hpp"

#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/sandbox/inside.hpp"
#include "warden.hpp"
#include "wire_encode.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox {

namespace {

Result<os::Pidfd> start_stub(const SessionPlan& plan, const Warden::Options& options,
                             const os::UniqueFd& stream, const CgroupLeaf* cgroup) {
  const std::string program = BAWN_TRY(find_warden_program(options.program));
  const std::string blob = BAWN_TRY(
      wire::encode_plan(plan, ::getpid(), cgroup != nullptr ? std::uint32_t{wire::kCgroup} : 0U));
  const os::UniqueFd memory = BAWN_TRY(os::sealed_memfd("bawn-plan", blob));
  os::SpawnOptions spawn;
  spawn.program = program;
  spawn.argv = {"bawn-warden", "--serve"};
  spawn.fds = {{memory.get(), wire::kPlanFd}, {stream.get(), wire::kStreamFd}};
  if (cgroup != nullptr) {
    spawn.fds.emplace_back(cgroup->descriptor(), wire::kCgroupFd);
  }
  spawn.from_lasting_thread = true;
  return os::spawn(spawn);
}

/// The stub's work done by this process itself: one fork, no second program in between. The child
/// is the warden; it sees this process's end by the life pipe and by its death signal.
Result<> fork_warden(const SessionPlan& plan, const os::UniqueFd& stream, Launched& launched) {
  const std::string blob = BAWN_TRY(wire::encode_plan(plan, ::getpid(), wire::kForkedWarden));
  warden::PlanView view;
  if (!warden::read_plan(reinterpret_cast<const unsigned char*>(blob.data()), blob.size(), view)) {
    return contract::fail(ErrorCode::Internal, "the plan cannot be read back");
  }
  view.cgroup_fd = launched.cgroup != nullptr ? launched.cgroup->descriptor() : -1;
  pid_t pid = 0;
  int life = -1;
  const warden::Failure failure = warden::start_warden(view, stream.get(), pid, life);
  launched.life = os::UniqueFd(life);
  if (failure.failed()) {
    return std::unexpected(setup_error(plan, failure.step, failure.errnum, failure.index));
  }
  auto held = os::Pidfd::open(pid);
  if (!held) {
    (void)::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::unexpected(std::move(held).error());
  }
  launched.child = std::move(*held);
  return {};
}

/// Without a PID namespace a stub of its own is needed: it ends what a killed warden leaves.
bool may_fork(const SessionPlan& plan, const Warden::Options& options) {
  return options.fork_stub && (plan.namespaces.clone_flags & CLONE_NEWPID) != 0;
}

}  // namespace

Result<> take_ready(Launched& launched, const SessionPlan& plan) {
  Frame first = BAWN_TRY(launched.link->first_frame());
  if (first.type == wire::Type::SetupFailed) {
    return std::unexpected(setup_error(plan, first));
  }
  if (first.type != wire::Type::Ready) {
    return contract::fail(ErrorCode::Internal,
                          "the session's warden did not begin with its report");
  }
  launched.report = BAWN_TRY(confirm(plan, first));
  wire::Reader in(reinterpret_cast<const unsigned char*>(first.payload.data()),
                  first.payload.size());
  (void)in.u32();
  const int pid = in.i32();
  launched.pid_namespace = in.u64();
  launched.other_numbers = launched.pid_namespace != 0;
  launched.warden = BAWN_TRY(os::Pidfd::open(pid));
  if (launched.cgroup != nullptr && !launched.cgroup->holds(pid)) {
    return contract::fail(ErrorCode::Unsupported, "the warden is not in the session's cgroup");
  }
  launched.start_time = BAWN_TRY(os::start_time(pid));
  if (plan.network.inside && !first.fd.is_open()) {
    return contract::fail(ErrorCode::Internal, "the session's warden brought no proxy socket");
  }
  if (plan.network.proxy || plan.network.supervise) {
    launched.egress = BAWN_TRY(Egress::start(plan.network, std::move(first.fd), {}));
  }
  return {};
}

Result<Launched> launch_warden(const SessionPlan& plan, const Warden::Options& options) {
  os::SocketPair stream = BAWN_TRY(os::SocketPair::make());
  Launched launched;
  if (plan.cgroup.apply) {
    launched.cgroup = BAWN_TRY(CgroupLeaf::make(plan.cgroup));
  }
  if (may_fork(plan, options)) {
    BAWN_TRY(fork_warden(plan, stream.far, launched));
  } else {
    launched.child = BAWN_TRY(start_stub(plan, options, stream.far, launched.cgroup.get()));
  }
  stream.far.reset();  // or its end would never be seen
  launched.link = std::make_shared<WardenLink>(std::move(stream.near));
  auto ready = take_ready(launched, plan);
  if (!ready) {
    (void)launched.child.signal(SIGKILL);
    pollfd gone{launched.child.get(), POLLIN, 0};
    (void)::poll(&gone, 1, 1000);
    (void)launched.child.reap();
    return std::unexpected(std::move(ready).error());
  }
  return launched;
}

}  // namespace bawn::sandbox
