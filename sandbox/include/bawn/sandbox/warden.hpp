/// \file
/// The server's end of a session: starts stub and warden, spawns inside the wall, signals, lists,
/// and hears of exits. One Warden object is one session.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/egress.hpp"
#include "bawn/sandbox/plan.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// How a process ended. `exited(code)` or `signalled(number)`, never a bare wait status.
struct ExitStatus {
  std::optional<int> code;    ///< exit code 0..255
  std::optional<int> signal;  ///< number of the signal that ended it
  bool core_dumped = false;
  int exec_errno = 0;  ///< errno of a failed execve; 0 when it started
  std::uint64_t user_us =
      0;  ///< CPU time in user mode of the process and its waited-for children, µs
  std::uint64_t system_us = 0;
  std::uint64_t peak_rss_bytes = 0;
  /// 128+signal, the code, or 127/126 for a failed exec, as a shell would give.
  [[nodiscard]] int shell_code() const noexcept;
};

/// In characters.
struct WindowSize {
  std::uint16_t columns = 0;
  std::uint16_t rows = 0;
};

/// What to start inside the wall.
struct SpawnSpec {
  std::vector<std::string>
      argv;  ///< argv[0] is looked up in the environment's PATH when it has no slash
  std::vector<std::string> env;  ///< "NAME=value"
  std::string cwd;               ///< absolute inside path
  os::UniqueFd standard_input;   ///< the child's descriptors 0, 1 and 2; empty = /dev/null
  os::UniqueFd standard_output;
  os::UniqueFd standard_error;
  std::string call;          ///< marker BAWN_CALL of everything it starts; may be empty
  bool new_session = false;  ///< setsid instead of a new process group
  /// Makes `standard_input`, a terminal, the controlling terminal of the new session.
  bool controlling_terminal = false;
  /// Only with a warden that passes no descriptors: its side makes a terminal of this size for the
  /// child's 0, 1 and 2. `standard_input` is then a socket that stands for the outer end: what
  /// comes from it is typed, and what the terminal prints goes to it.
  std::optional<WindowSize> remote_terminal{};
  /// One more Landlock layer for this child and what it starts: nothing can be changed but beneath
  /// these absolute paths (a missing one grants nothing), and no TCP from ABI 4 on. Absent = none.
  /// Where the session has no Landlock the spawn fails with Unsupported.
  std::optional<std::vector<std::string>> writable_only;
};

/// One process of the session. Numbers are the host's; `inside_*` those of the PID namespace.
struct ProcessInfo {
  int pid = 0;
  int inside_pid = 0;
  int parent = 0;  ///< host pid of the parent
  int pgid = 0;    ///< inside numbers: group and session as the processes see them
  int sid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks after boot (field 22 of /proc/PID/stat)
  char state = '?';
  std::string call;  ///< BAWN_CALL marker, empty when it has none or cannot be read
  std::string name;
};

/// Whom a signal is for.
struct SignalTarget {
  enum class Kind : std::uint32_t {
    Group,    ///< one inside process group
    Process,  ///< one inside pid
    Call,     ///< everything that call started, found by marker, ancestry and start time
    Session,  ///< everything but the warden
  };
  Kind kind = Kind::Session;
  int id = 0;                    ///< group or pid
  std::string call;              ///< for Call
  std::uint64_t not_before = 0;  ///< for Call: start time (ticks) of the call
  int keep_pid = 0;              ///< for Call and Session: an inside pid that is spared (the shell)
};

/// A started child that has not been let go: it exists, is on no CPU, and has executed nothing.
/// Write its record, then call go(). Destroying it without go() ends it.
class Child {
 public:
  virtual ~Child() = default;
  [[nodiscard]] virtual int pid() const noexcept = 0;  ///< host pid
  [[nodiscard]] virtual int inside_pid() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t start_time() const noexcept = 0;
  [[nodiscard]] virtual int pidfd() const noexcept = 0;  ///< borrowed
  /// Lets it execute.
  [[nodiscard]] virtual Result<> go() = 0;
  /// Blocks until it ended, or until `context` ends (Cancelled / DeadlineExceeded; the child runs
  /// on).
  [[nodiscard]] virtual Result<ExitStatus> wait(const contract::Context& context) = 0;
  /// The exit status once it is known.
  [[nodiscard]] virtual std::optional<ExitStatus> status() const = 0;
  /// A descriptor that becomes readable when the status is known, for poll(2); borrowed. Ask
  /// status() before waiting and after: with Options::fork_stub other news make it readable too,
  /// and status() is what takes them in.
  [[nodiscard]] virtual int exit_event() const noexcept = 0;
  /// Bytes of its standard input that are under way to it or that it has not read. Absent where the
  /// descriptor given to it tells (FIONREAD).
  [[nodiscard]] virtual std::optional<std::size_t> unread_input() const { return std::nullopt; }
  /// Of a `remote_terminal`. Errors: Unsupported when it has none.
  [[nodiscard]] virtual Result<> resize(WindowSize size);
};

class FileAgent;
class Relay;

/// Threads: thread-safe.
class Warden {
 public:
  struct Options {
    /// Path of the bawn-warden program; empty = beside this program, then the install's libexec.
    std::string program;
    /// Fork the stub from this process instead of starting the program: only for a process with
    /// one thread (`bawn run`), where it saves an exec and the thread that reads the warden's
    /// stream: the Warden and its children are then for that one thread. Without a PID namespace in
    /// the plan the program is started all the same.
    bool fork_stub = false;
    /// Start them at the other end of this relay (relay.hpp) instead of here; the plan must fit
    /// that place. `program` and `fork_stub` have no meaning then.
    std::shared_ptr<Relay> relay{};
  };

  /// Starts stub and warden and waits for the warden's word on every layer.
  ///
  /// Errors: Unsupported (a layer that the plan promised failed: names step and errno),
  /// NotFound (no bawn-warden), ResourceExhausted, Internal.
  static Result<std::shared_ptr<Warden>> start(const SessionPlan& plan, const Options& options);

  virtual ~Warden() = default;  ///< ends everything that runs inside

  /// What the warden confirmed.
  [[nodiscard]] virtual const contract::Confinement& report() const noexcept = 0;
  [[nodiscard]] virtual int pid() const noexcept = 0;  ///< host pid of the warden
  [[nodiscard]] virtual std::uint64_t start_time() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t pid_namespace()
      const noexcept = 0;  ///< inode, 0 = the host's

  /// Starts a child that waits for its go, in its working directory.
  ///
  /// Errors: InvalidArgument (the spec cannot be passed on), the errno of entering the directory
  /// (NotFound, ...), ResourceExhausted, Closed (the warden is gone), DeadlineExceeded.
  /// Blocking: at most 20 s, when the warden or the directory's file system does not react.
  [[nodiscard]] virtual Result<std::unique_ptr<Child>> spawn(SpawnSpec spec) = 0;
  /// Sends `signal` and returns how many processes it reached. None is no error.
  ///
  /// Blocking: SIGKILL (but to a Group) is answered when all that it reached is dead, at most 1 s
  /// later; everything else at once.
  [[nodiscard]] virtual Result<int> signal(const SignalTarget& target, int signal) = 0;
  [[nodiscard]] virtual Result<std::vector<ProcessInfo>> tree() = 0;

  /// The session's files. The process behind it starts with the first request and ends with the
  /// session; the object may outlive the Warden and then answers Closed.
  ///
  /// Errors: Unsupported (this kind of warden has none), Closed.
  [[nodiscard]] virtual Result<std::shared_ptr<FileAgent>> file_agent();

  /// The session's proxy and supervisor; null when the policy needs neither. Lives as long as the
  /// warden's handle.
  [[nodiscard]] virtual std::shared_ptr<Egress> egress() const { return nullptr; }

  /// The directory of the session's own cgroup (v2); empty when it has none.
  [[nodiscard]] virtual std::string cgroup() const { return {}; }

  /// The relay that it is reached through; null where descriptors are passed. Over a relay every
  /// process number is the place's own, and host and inside numbers are the same.
  [[nodiscard]] virtual std::shared_ptr<Relay> relay() const { return nullptr; }
  /// This moment in the unit of a process's start time (clock ticks after boot, of the machine that
  /// the session runs on).
  [[nodiscard]] virtual std::uint64_t start_time_now() const noexcept;
  /// Descriptors of which one becomes readable when one of these processes has ended. Those that
  /// are gone or cannot be seen are left out.
  [[nodiscard]] virtual std::vector<os::UniqueFd> watch(const std::vector<ProcessInfo>& processes);

  /// False once the warden is gone; every waiting call then ended with Closed.
  [[nodiscard]] virtual bool alive() const noexcept = 0;
  /// Ends everything inside and waits until it is gone. Idempotent.
  ///
  /// Blocking: milliseconds as a rule. A warden that does not react is killed after 2 s; what then
  /// still stays (a process in an uninterruptible wait) is left after 6 s in all.
  virtual void close() = 0;
  /// Lets everything inside end without waiting for it, for a process that is about to exit. With a
  /// PID namespace the kernel ends what is inside, as a rule within a millisecond after this
  /// process (output that it still holds open ends then, too); without one it is close(). After it
  /// no other call but the destructor, which does nothing more.
  virtual void abandon() { close(); }
};

/// Where clients inside find the proxy; 0 when there is none.
[[nodiscard]] inline std::uint16_t proxy_port(const Warden& warden) {
  const auto egress = warden.egress();
  return egress == nullptr ? std::uint16_t{0} : egress->port();
}

}  // namespace bawn::sandbox
