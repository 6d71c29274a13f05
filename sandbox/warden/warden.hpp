/// \file
/// bawn-warden: the program that builds a session's wall around itself and serves inside it.
///
/// libc only: no C++ library, no exceptions, no heap after the wall stands. What it may call:
///   stub      prctl, mmap, fstat, pipe2, clone, open/read/write of the child's id maps and of its
///             own list of children, chdir, waitpid, kill; with --exec also socketpair, signalfd,
///             poll, send[msg], recv[msg], setrlimit
///   setup     the mount family, open, mkdir, mknod, symlink, chmod, read/write of small files,
///   stat,
///             chdir, fcntl, dup3, close_range, socket + ioctl(SIOCSIFFLAGS), sethostname, setsid,
///             setgroups, setres[ug]id, capget, capset, prctl, keyctl, getrlimit, setrlimit,
///             landlock_*, seccomp, sigprocmask, signalfd, clone + waitpid of a try,
///             bind + listen of the proxy's socket
///   inside    socket, connect, recv[msg], mmap, fstat, write
///   serving   poll, recv[msg], send[msg], read, clone, setpgid, wait4, kill of groups, pidfd_open,
///             pidfd_send_signal, openat, lseek and getdents64 below /proc, mmap/mprotect/munmap of
///             spawn slots, clock_gettime, landlock_*, open(O_PATH), fstat,
///             snprintf/sscanf/strtok_r on fixed buffers
///   the file agent: agent/agent.hpp
///   the relay, which stands outside every wall: relay/relay.hpp
///   the child between clone and exec: raw system calls only (syscalls.hpp)
/// Order of life: stub.cpp -> setup.cpp (mounts, identity, landlock, filter) -> serve.cpp.
#pragma once

#include "wire.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace bawn::sandbox::warden {

using wire::Step;

/// What the plan says, pointing into its mapping. A Reader member stands at the first of `count`
/// entries; copy it to walk.
struct PlanView {
  int server_pid = 0;
  int host_pid = 0;    ///< the warden's number where the server is; 0 = the stub will say it
  int cgroup_fd = -1;  ///< the directory of the session's cgroup, or -1; not part of the blob
  std::uint32_t flags = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t clone_flags = 0;
  const char* hostname = "";
  struct Landlock {
    std::uint32_t abi = 0;
    std::uint64_t handled_fs = 0;
    std::uint64_t handled_net = 0;
    std::uint64_t scoped = 0;
    std::uint32_t restrict_flags = 0;
    std::uint32_t count = 0;
    wire::Reader rules;  ///< u64 access, text path
  } landlock;
  const unsigned char* filter = nullptr;            ///< struct sock_filter
  std::uint32_t filter_length = 0;                  ///< instructions
  std::uint32_t proxy_port = 0;                     ///< with kProxyListener
  const unsigned char* listener_program = nullptr;  ///< for each child; struct sock_filter
  std::uint32_t listener_length = 0;                ///< instructions; 0 = no listener
  std::uint32_t rlimit_count = 0;
  wire::Reader rlimits;  ///< u32 resource, u64 soft, u64 hard
  std::uint32_t mount_count = 0;
  wire::Reader mounts;  ///< u32 kind, u32 optional, text source, target, data

  [[nodiscard]] bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
};

/// Reads and checks the whole blob; false when anything in it is not as wire_encode writes it.
bool read_plan(const unsigned char* data, std::size_t size, PlanView& plan) noexcept;
/// Maps the sealed plan behind `fd` (for good) and reads it.
bool map_plan(int fd, PlanView& plan) noexcept;

/// A step that was optional and failed.
struct Missing {
  Step step;
  int errnum;
  std::uint32_t index;
};

/// What setup confirms to the server.
struct Confirmed {
  std::uint32_t layers = 0;         ///< LayerBit
  int host_pid = 0;                 ///< the warden's number where the stub is
  std::uint64_t pid_namespace = 0;  ///< inode of an own PID namespace, else 0
  std::uint32_t skipped_rules = 0;  ///< Landlock paths that were not there
  static constexpr std::uint32_t kMaxMissing = 256;
  std::uint32_t missing_count = 0;
  std::uint32_t more_missing = 0;  ///< those that `missing` had no room for
  Missing missing[kMaxMissing] = {};

  void add_missing(Step step, int errnum, std::uint32_t index) noexcept {
    if (missing_count < kMaxMissing) {
      missing[missing_count++] = {step, errnum, index};
    } else {
      ++more_missing;
    }
  }
};

/// A failed step; `step` 0 = none.
struct Failure {
  Step step = Step{};
  int errnum = 0;
  std::uint32_t index = 0;
  [[nodiscard]] bool failed() const noexcept { return step != Step{}; }
};

// stub.cpp
/// Makes the namespaces and the warden in them, writes its identity maps and lets it go on. Returns
/// in the caller only. `life_fd` gets the write end of a pipe whose end tells the warden that the
/// stub is gone.
Failure start_warden(const PlanView& plan, int stream_fd, pid_t& pid, int& life_fd);
/// Maps of a new user namespace's ids, from outside: all of them (root), or the caller's own one.
/// Returns the errno of what failed, or 0.
int write_identity_maps(bool full, pid_t pid) noexcept;
/// What every stub does first: it dies with the server, and takes in what a killed warden leaves.
/// Does not return when there is nothing to be done any more; failures go to `stream_fd`.
void begin_stub(int plan_fd, int stream_fd, PlanView& plan);
/// What every stub does last: waits for the warden's end and ends what that has left.
void end_stub(const PlanView& plan, pid_t warden) noexcept;
/// The stub's whole life.
[[noreturn]] void run_stub(int plan_fd, int stream_fd);

// exec_stub.cpp
/// The life of a stub that has one command: it asks the warden for it, passes signals on, and ends
/// as the command ends. Its own descriptors 0, 1 and 2 are the command's.
[[noreturn]] void run_exec_stub();

// inside.cpp
/// A container's main process: takes its plan from the server that listens at `socket_path`; its
/// standard input ends with the server.
[[noreturn]] void run_main_process(const char* socket_path);
/// A further session's warden, started by the main process: its standard input is the stream.
[[noreturn]] void run_beside();

// setup.cpp, and the parts it calls in this order
[[noreturn]] void run_warden(const PlanView& plan, int stream_fd, int life_fd);
Failure apply_mounts(const PlanView& plan, Confirmed& confirmed) noexcept;
Failure raise_loopback() noexcept;
Failure apply_identity(const PlanView& plan, Confirmed& confirmed) noexcept;
Failure apply_rlimits(const PlanView& plan) noexcept;
Failure apply_landlock(const PlanView& plan, Confirmed& confirmed) noexcept;
/// A ruleset that handles nothing but scopes, for each child; -1 when the kernel has no scopes.
int make_scope_ruleset() noexcept;
/// A ruleset under which nothing can be changed but beneath `count` paths read from `paths`, and
/// no TCP; a negative errno when it cannot be made.
int make_read_only_ruleset(std::uint32_t abi, std::uint32_t count, wire::Reader paths) noexcept;
Failure apply_filter(const PlanView& plan) noexcept;
/// Tries the children's filter with its listener in a process that ends at once.
Failure try_listener(const PlanView& plan) noexcept;
/// Puts the proxy's listening socket on the session's own loopback; -1 when the plan has none.
Failure open_proxy(const PlanView& plan, int& fd) noexcept;

// frames.cpp
inline constexpr std::size_t kReplySize = std::size_t{64} << 10U;
/// Sends one frame, with a descriptor unless `fd` is negative. False when the server is gone.
bool send_frame(int stream, wire::Type type, std::uint32_t id, const void* payload,
                std::size_t length, int fd) noexcept;
/// The same with several descriptors, at most kMaxFds.
bool send_frame_with(int stream, wire::Type type, std::uint32_t id, const void* payload,
                     std::size_t length, const int* fds, std::size_t count) noexcept;
/// Receives a header and the descriptors with it; unused places are -1. False at the end of the
/// stream or when it is broken.
bool receive_header(int stream, wire::Header& header, int (&fds)[wire::kMaxFds]) noexcept;
/// Receives exactly `length` bytes.
bool receive_bytes(int stream, void* buffer, std::size_t length) noexcept;
/// Sends SetupFailed; the caller exits.
void send_failure(int stream, const Failure& failure) noexcept;

/// Appends numbers and texts to a fixed buffer; what does not fit is left out and `full` is set.
struct Packer {
  unsigned char* data;
  std::size_t capacity;
  std::size_t size = 0;
  bool full = false;
  void u32(std::uint32_t value) noexcept;
  void u64(std::uint64_t value) noexcept;
  void text(const char* value, std::size_t length) noexcept;
};

// serve.cpp
/// What stays open while serving, at fixed numbers so that a received descriptor never takes one
/// of the child's.
inline constexpr int kNullFd = 3;
struct Station {
  int stream = -1;
  int life = -1;
  int signals = -1;
  int proc = -1;                                    ///< /proc
  int scope_ruleset = -1;                           ///< for each child, or -1
  const unsigned char* listener_program = nullptr;  ///< for each child, or null
  std::uint32_t listener_length = 0;
  std::uint32_t landlock_abi = 0;  ///< 0 = the session has no Landlock
  bool own_pid_namespace = false;
};
[[noreturn]] void serve(const Station& station);

// spawn.cpp
inline constexpr std::size_t kMaxCall = 128;
/// Handles a Spawn request; false when the stream broke.
bool handle_spawn(const Station& station, const wire::Header& header,
                  int (&fds)[wire::kMaxFds]) noexcept;
/// Reaps what has ended and tells the server; false when the stream broke.
bool reap_children(const Station& station) noexcept;
/// A direct child by its number (as the warden sees it): its call marker, or null.
const char* call_of_child(pid_t pid) noexcept;
/// True when a direct child other than `except` was started for that call and lives.
bool has_child_of_call(const char* call, pid_t except) noexcept;
/// True for a direct child that has not executed yet.
bool is_pending_child(pid_t pid) noexcept;
/// Notes the limits that bind children only.
void note_child_rlimit(int resource, std::uint64_t soft, std::uint64_t hard) noexcept;

// agents.cpp
/// Starts a file agent for the server's `stream`; false when the request is malformed or the
/// warden's stream broke.
bool handle_agent(const Station& station, const wire::Header& header, int stream) noexcept;
/// True for a file agent: no process of the session's calls.
bool is_agent(pid_t pid) noexcept;
/// Notes that a process was reaped.
void forget_agent(pid_t pid) noexcept;

// signals.cpp, tree.cpp
/// Both false when the stream broke or the request is malformed.
bool handle_signal(const Station& station, const wire::Header& header) noexcept;
bool handle_tree(const Station& station, const wire::Header& header) noexcept;

// probe.cpp
int run_probe() noexcept;

}  // namespace bawn::sandbox::warden
