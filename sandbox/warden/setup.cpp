// The warden's first half: every step of the wall in the order in which it must happen. Each step
// that fails ends the session before it began, unless the plan calls it optional.
#include "warden.hpp"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

constexpr int kMoved = 32;  // above every number that a descriptor is given below

[[noreturn]] void give_up(int stream, const Failure& failure) {
  send_failure(stream, failure);
  _exit(1);
}

void require(int stream, const Failure& failure) {
  if (failure.failed()) {
    give_up(stream, failure);
  }
}

Failure failed_unless(bool done, Step step) noexcept {
  return done ? Failure{} : Failure{step, errno, 0};
}

/// Leaves open only the stream and the life pipe, with 0 to 3 free to be taken by /dev/null.
Failure arrange_descriptors(int& stream, int& life) noexcept {
  const int moved_stream = fcntl(stream, F_DUPFD_CLOEXEC, kMoved);
  const int moved_life = fcntl(life, F_DUPFD_CLOEXEC, kMoved);
  if (moved_stream < 0 || moved_life < 0) {
    return {Step::Descriptors, errno, 0};
  }
  stream = 4;
  life = 5;
  if (dup3(moved_stream, stream, O_CLOEXEC) < 0 || dup3(moved_life, life, O_CLOEXEC) < 0 ||
      syscall(SYS_close_range, 6U, ~0U, 0U) != 0) {
    return {Step::Descriptors, errno, 0};
  }
  return {};
}

/// /dev/null of the new /dev on 0 to 3: received descriptors then always get numbers from 4 on, and
/// nothing of the old mount namespace stays reachable.
Failure take_null() noexcept {
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return {Step::Descriptors, errno, 0};
  }
  for (int number = 0; number <= 3; ++number) {
    if (fd != number && dup3(fd, number, O_CLOEXEC) < 0) {
      return {Step::Descriptors, errno, 0};
    }
  }
  if (fd > 3) {
    close(fd);
  }
  return {};
}

/// The stub's go and the warden's number outside. The read ends without bytes when the stub is
/// dead.
Failure await_stub(const PlanView& plan, int life, Confirmed& confirmed) noexcept {
  if (plan.host_pid > 0) {
    confirmed.host_pid = plan.host_pid;
    return {};
  }
  std::int32_t number = 0;
  ssize_t count = 0;
  do {
    count = read(life, &number, sizeof number);
  } while (count < 0 && errno == EINTR);
  confirmed.host_pid = number;
  return count == sizeof number ? Failure{} : Failure{Step::ParentDeath, ESRCH, 0};
}

std::uint64_t pid_namespace_inode() noexcept {
  struct stat status = {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

Failure join_keyring(const PlanView& plan, Confirmed& confirmed) noexcept {
  if (!plan.has(wire::kNewKeyring)) {
    return {};
  }
  if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0) {
    // A kernel without keys, or a container's own filter in front of ours: then there is no keyring
    // to inherit or no way to reach one.
    confirmed.add_missing(Step::Keyring, errno, 0);
  }
  return {};
}

/// The death signal again after all identity steps: commit_creds() in the kernel clears it whenever
/// ids or capabilities change. With a PID namespace the kernel kills what is inside when init dies;
/// without one the warden must live to do that itself, and the life pipe tells it.
Failure tie_to_stub(bool own_pid_namespace) noexcept {
  return failed_unless(prctl(PR_SET_PDEATHSIG, own_pid_namespace ? SIGKILL : 0) == 0,
                       Step::ParentDeath);
}

/// Everything is blocked for good: a blocked signal is not ignored even by an init, so what a
/// process inside sends to the warden stays pending and does nothing.
Failure prepare_station(const PlanView& plan, Station& station) noexcept {
  sigset_t every;
  sigfillset(&every);
  sigset_t listened;
  sigemptyset(&listened);
  sigaddset(&listened, SIGCHLD);
  if (sigprocmask(SIG_SETMASK, &every, nullptr) != 0) {
    return {Step::Signals, errno, 0};
  }
  station.signals = signalfd(-1, &listened, SFD_CLOEXEC | SFD_NONBLOCK);
  station.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (station.signals < 0 || station.proc < 0) {
    return {Step::Signals, errno, 0};
  }
  station.landlock_abi = plan.landlock.abi;
  station.listener_program = plan.listener_length > 0 ? plan.listener_program : nullptr;
  station.listener_length = plan.listener_length;
  if (plan.has(wire::kChildScopeLayer)) {
    station.scope_ruleset = make_scope_ruleset();
  }
  return {};
}

void send_ready(int stream, const Confirmed& confirmed, int proxy) noexcept {
  static unsigned char buffer[kReplySize];
  Packer out{buffer, sizeof buffer};
  out.u32(wire::kVersion);
  out.u32(static_cast<std::uint32_t>(confirmed.host_pid));
  out.u64(confirmed.pid_namespace);
  out.u32(confirmed.layers);
  out.u32(confirmed.skipped_rules);
  out.u32(confirmed.more_missing);
  out.u32(confirmed.missing_count);
  for (std::uint32_t at = 0; at < confirmed.missing_count; ++at) {
    const Missing& missing = confirmed.missing[at];
    out.u32(static_cast<std::uint32_t>(missing.step));
    out.u32(static_cast<std::uint32_t>(missing.errnum));
    out.u32(missing.index);
  }
  (void)send_frame(stream, wire::Type::Ready, 0, out.data, out.size, proxy);
}

Failure set_hostname(const PlanView& plan) noexcept {
  if (plan.hostname[0] == '\0' || (plan.clone_flags & CLONE_NEWUTS) == 0) {
    return {};
  }
  return failed_unless(sethostname(plan.hostname, strlen(plan.hostname)) == 0, Step::Hostname);
}

Failure apply_namespaces(const PlanView& plan, Confirmed& confirmed) noexcept {
  Failure failure = apply_mounts(plan, confirmed);
  if (!failure.failed() && plan.has(wire::kLoopbackUp)) {
    failure = raise_loopback();
  }
  return failure.failed() ? failure : set_hostname(plan);
}

/// no_new_privs, Landlock, and the filter last: it takes away the calls that the others need.
Failure apply_kernel_layers(const PlanView& plan, Confirmed& confirmed) noexcept {
  if (plan.has(wire::kNoNewPrivs) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return {Step::NoNewPrivs, errno, 0};
  }
  const Failure failure = apply_landlock(plan, confirmed);
  return failure.failed() ? failure : apply_filter(plan);
}

std::uint32_t layers_of(const PlanView& plan, const Station& station) noexcept {
  std::uint32_t layers = 0;
  layers |= plan.clone_flags != 0 ? wire::kLayerNamespaces : 0U;
  layers |= plan.has(wire::kHygiene) ? wire::kLayerHygiene : 0U;
  layers |= plan.landlock.abi > 0 ? wire::kLayerLandlock : 0U;
  layers |= plan.has(wire::kSeccomp) ? wire::kLayerSeccomp : 0U;
  layers |= plan.cgroup_fd >= 0 ? wire::kLayerCgroup : 0U;
  layers |= station.scope_ruleset >= 0 ? wire::kLayerChildScope : 0U;
  return layers;
}

}  // namespace

Failure raise_loopback() noexcept {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return {Step::Loopback, errno, 0};
  }
  ifreq request = {};
  memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP;
  const Failure failure = failed_unless(ioctl(fd, SIOCSIFFLAGS, &request) == 0, Step::Loopback);
  close(fd);
  return failure;
}

void run_warden(const PlanView& plan, int stream_fd, int life_fd) {
  static Confirmed confirmed;
  Station station;
  const bool own_pid_namespace = (plan.clone_flags & CLONE_NEWPID) != 0;
  // A container's main process is the init of the engine's namespace.
  station.own_pid_namespace = own_pid_namespace || getpid() == 1;
  station.stream = stream_fd;
  station.life = life_fd;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  require(stream_fd, arrange_descriptors(station.stream, station.life));
  require(station.stream, await_stub(plan, station.life, confirmed));
  if (station.own_pid_namespace) {
    confirmed.pid_namespace = pid_namespace_inode();
  }
  // A session of its own: no controlling terminal, and no job-control signal from outside.
  if (getsid(0) != getpid() && setsid() < 0) {
    confirmed.add_missing(Step::Session, errno, 0);
  }
  require(station.stream, apply_namespaces(plan, confirmed));
  int proxy = -1;
  require(station.stream, open_proxy(plan, proxy));
  // Until it is looked up anew, the working directory is one of the host's mounts.
  require(station.stream, failed_unless(chdir("/") == 0, Step::Descriptors));
  require(station.stream, take_null());
  require(station.stream, apply_identity(plan, confirmed));
  require(station.stream, join_keyring(plan, confirmed));
  require(station.stream, apply_rlimits(plan));
  require(station.stream, tie_to_stub(own_pid_namespace));
  require(station.stream, failed_unless(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, Step::Dumpable));
  if (!station.own_pid_namespace) {
    require(station.stream,
            failed_unless(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, Step::Subreaper));
  }
  require(station.stream, try_listener(plan));
  require(station.stream, prepare_station(plan, station));
  require(station.stream, apply_kernel_layers(plan, confirmed));
  confirmed.layers = layers_of(plan, station);
  send_ready(station.stream, confirmed, proxy);
  if (proxy >= 0) {
    close(proxy);  // the server's alone: nothing inside may accept in its place
  }
  serve(station);
}

}  // namespace bawn::sandbox::warden
