/// \file
/// One session: a wall with a persistent bash and one-shot processes inside it.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/context.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/relay.hpp"
#include "bawn/sandbox/warden.hpp"
#include "bawn/shell/call_result.hpp"
#include "bawn/shell/place_files.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bawn::shell {

using Milliseconds = std::chrono::milliseconds;

/// Bounds of a session. Sizes in bytes.
struct SessionLimits {
  Milliseconds stop_grace{2000};   ///< between INT, TERM and KILL when a call is stopped
  Milliseconds snapshot_idle{50};  ///< idle time before the shell's state is saved; 0 = never
  /// A shell that runs on between calls is ended when it used a fifth of such a time; 0 = never.
  Milliseconds idle_watch{15'000};
  /// How long a step waits for a shell that does not come back to its prompt.
  Milliseconds busy_shell{10'000};
  std::size_t memory_per_stream = 128 * 1024;        ///< head and tail kept in memory, half each
  std::uint64_t disk_per_stream = 64 * 1024 * 1024;  ///< output kept on disk, from its start
  std::size_t text_bytes = 8 * 1024 * 1024;          ///< longest command text or input
  std::size_t snapshot_bytes = 1024 * 1024;          ///< larger states are not kept
  std::size_t recent_calls = 64;                     ///< finished calls whose output stays readable
  std::size_t running_exec = 16;                     ///< one-shot calls at a time
};

/// Disk space that the output of many sessions shares, bytes.
///
/// Threads: thread-safe.
class SpoolBudget {
 public:
  explicit SpoolBudget(std::uint64_t bytes) : left_(bytes) {}
  /// Takes at most `wanted` and returns how much it took.
  [[nodiscard]] std::uint64_t take(std::uint64_t wanted) noexcept;
  void give_back(std::uint64_t bytes) noexcept { left_ += bytes; }
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

 private:
  std::atomic<std::uint64_t> left_;
};

/// What runs the text of a session's `bash` calls.
enum class ShellKind {
  Auto,  ///< bash; where there is none, as Sh
  Bash,  ///< one persistent bash
  Sh,    ///< any POSIX shell: a new one for each call, which begins with the state of the last
};

struct SessionConfig {
  std::string name = "main";
  sandbox::Policy policy;
  std::string workspace;  ///< absolute; where the shell starts
  std::string state_dir;  ///< absolute; bawn's own, made when missing; never inside a writable root
  /// "NAME=value": what the policy's allow-list chooses from. Nothing is taken from the process.
  std::vector<std::string> environment;
  ShellKind shell = ShellKind::Auto;
  std::string bash = "/bin/bash";  ///< with Auto also any that the environment's PATH has
  std::string sh = "/bin/sh";
  sandbox::Warden::Options warden;
  SessionLimits limits;
  std::shared_ptr<SpoolBudget> spool{};  ///< null = bounded by `limits` alone
  /// Where the kernel counts processes that it ended for lack of memory, as in proc_vmstat(5);
  /// empty = memory.events of the session's cgroup where it has a limit there, else /proc/vmstat.
  std::string kernel_counters{};
};

/// In characters.
struct TerminalSize {
  std::uint16_t columns = 120;
  std::uint16_t rows = 40;
};

/// What happens when a call's own limit passes.
enum class OnTimeout { Kill, Background };

using Variables = std::vector<std::pair<std::string, std::string>>;

struct BashRequest {
  std::string command;                    ///< any bash text; run byte for byte
  std::optional<std::string> input{};     ///< standard input; absent = /dev/null
  bool input_open = false;                ///< keep it open behind `input`, for Session::write_input
  std::string cwd{};                      ///< for this call only; absolute, or below the workspace
  Variables environment{};                ///< exported for this call only
  std::optional<Milliseconds> timeout{};  ///< the command's own limit
  OnTimeout on_timeout = OnTimeout::Kill;
  std::optional<Milliseconds>
      yield{};  ///< how long to wait before answering "running"; absent = to the end
  std::uint64_t output_limit = 0;  ///< stop the call beyond this many bytes per stream; 0 = never
  std::size_t view_bytes = 32 * 1024;  ///< how much of both streams together the result shows
  bool check_syntax = true;            ///< parse the whole text before anything runs
  bool check_only = false;             ///< parse the text and run nothing of it
  bool keep_options = false;  ///< leave errexit, nounset, xtrace, verbose and pipefail as set
  // Each of these three runs the text in a bash of its own that begins with the shell's state;
  // what it changes does not flow back, and it does not wait for the shell.
  bool background = false;                 ///< answer at once
  bool read_only = false;                  ///< under one more layer: it can change nothing
  std::optional<TerminalSize> terminal{};  ///< on a terminal of its own; `input` is typed into it

  [[nodiscard]] bool aside() const noexcept { return background || read_only || terminal; }
};

struct ExecRequest {
  std::vector<std::string> argv;  ///< looked up in the session's PATH when argv[0] has no slash
  std::string cwd{};              ///< absolute, or relative to the workspace; empty = workspace
  Variables environment{};        ///< set for this call only
  std::optional<std::string> input{};
  bool input_open = false;
  std::optional<Milliseconds> timeout{};
  OnTimeout on_timeout = OnTimeout::Kill;
  bool read_only = false;
  std::optional<TerminalSize> terminal{};
  std::optional<Milliseconds> yield{};
  std::uint64_t output_limit = 0;
  std::size_t view_bytes = 32 * 1024;
};

/// Which part of a call's output to read.
struct OutputRequest {
  std::string call;
  std::optional<Milliseconds> wait{};       ///< for the end of a running call; absent = to its end
  bool follow = false;                      ///< wait only until there is something new to show
  std::optional<std::string> until{};       ///< or until new output matches (RE2)
  std::optional<Milliseconds> settle{};     ///< and then until nothing was printed for this long
  std::optional<std::uint64_t> out_from{};  ///< byte offset; absent = behind what was last shown
  std::optional<std::uint64_t> err_from{};
  std::optional<std::uint64_t> out_line{};  ///< instead of an offset: a line, counted from 1
  std::optional<std::uint64_t> err_line{};
  std::optional<std::string> filter{};  ///< show only lines that match (RE2), with their numbers
  bool raw = false;                     ///< base64 of the bytes as they were printed
  std::size_t view_bytes = 32 * 1024;
};

/// What to write to a running call.
struct InputRequest {
  std::string call;
  std::string bytes{};                   ///< any bytes
  bool end = false;                      ///< end of file behind them
  std::optional<TerminalSize> resize{};  ///< of a call with a terminal
};

/// One line of the list of recent calls.
struct CallSummary {
  std::string call;
  std::string kind;  ///< "bash" or "exec"
  CallState state = CallState::Finished;
  std::optional<Reason> reason;
  std::optional<int> exit_code;
  std::uint64_t out_bytes = 0;
  std::uint64_t err_bytes = 0;
  bool answered = true;  ///< false when it was cancelled, so that its caller never saw the result
};

/// Who commands run as.
struct Identity {
  std::uint32_t uid = 0;  ///< host numbers
  std::uint32_t gid = 0;
  std::string home;  ///< HOME of the session's environment
};

/// Threads: thread-safe. One `bash` call runs at a time; `exec` calls run beside it.
class Session {
 public:
  /// Plans the wall, starts it, and starts bash inside.
  ///
  /// Errors: those of sandbox::survey, plan_session and Warden::start; NotFound when there is no
  /// bash; Internal when bash does not come up.
  static Result<std::shared_ptr<Session>> start(SessionConfig config);

  /// The same with a wall that is already there (a container's, a test's). `directory` is what
  /// `prepare_directory` gave, and the wall must let the session read r/ and write w/ in it.
  static Result<std::shared_ptr<Session>> start_inside(SessionConfig config, std::string directory,
                                                       std::shared_ptr<sandbox::Warden> warden,
                                                       std::vector<std::string> environment);

  /// Makes `<state_dir>/sessions/<random>` with r/ and w/ inside, for commands that run as uid:gid.
  static Result<std::string> prepare_directory(const std::string& state_dir, std::uint32_t uid,
                                               std::uint32_t gid);

  /// Where a session over a relay (bawn/sandbox/relay.hpp) runs.
  struct RemotePlace {
    std::shared_ptr<sandbox::Warden> warden;  ///< started over a relay
    std::string directory;                    ///< what prepare_directory(relay, …) gave
    std::uint32_t uid = 0;                    ///< who commands run as there; the plan's
    std::uint32_t gid = 0;
    std::string name;  ///< in records: "container:ID"
  };

  /// The same behind a relay: the shell, its files and its processes are at that place, output and
  /// records here (below `config.state_dir`). `config.policy` and `config.warden` are not looked
  /// at; the wall is the place's and the warden's.
  ///
  /// Errors: those of the relay; InvalidArgument (the warden is none of a relay's); NotFound when
  /// there is no bash.
  static Result<std::shared_ptr<Session>> start_over(SessionConfig config, RemotePlace place,
                                                     std::vector<std::string> environment);

  /// Makes a session's directory at the relay's place, for commands that run as uid:gid there:
  /// below the first of /run, /tmp and /dev/shm that can be written. The relay removes it in the
  /// end.
  static Result<std::string> prepare_directory(sandbox::Relay& relay, std::uint32_t uid,
                                               std::uint32_t gid);

  /// A place that no warden of ours stands in: somebody else, as a container's engine, starts each
  /// process.
  struct BarePlace {
    std::shared_ptr<sandbox::Warden> warden;  ///< starts and ends processes by that means
    std::shared_ptr<PlaceFiles> files;
    std::string directory;  ///< there, with r/ and w/ in it; whoever made it removes it
    std::uint32_t uid = 0;  ///< who commands run as there
    std::uint32_t gid = 0;
    std::string name;  ///< in records, as "container:ID"; not empty
  };

  /// The same there. Each `bash` call is a new `config.sh`, which begins with the state of the one
  /// before; terminals and calls that may change nothing are refused by the warden.
  ///
  /// Errors: the warden's; NotFound when there is no such shell.
  static Result<std::shared_ptr<Session>> start_bare(SessionConfig config, BarePlace place,
                                                     std::vector<std::string> environment);

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs bash text in the persistent shell.
  ///
  /// Errors: InvalidArgument (NUL in the text, too long), Busy (names the running call), Closed.
  /// A command that fails, is stopped or does not parse is a result, not an error.
  /// Blocking: until the call ends or its yield passes. Ending `context` stops what the call
  /// started and keeps the shell; the result says what it printed.
  [[nodiscard]] Result<CallResult> run(const contract::Context& context, BashRequest request);

  /// Runs one program beside the shell. Errors and blocking as `run`.
  [[nodiscard]] Result<CallResult> exec(const contract::Context& context, ExecRequest request);

  /// The state and output of a running or recent call. Ending `context` ends only the wait.
  ///
  /// Errors: NotFound for a call that is not, or no longer, kept; InvalidArgument for a pattern
  /// that is none.
  [[nodiscard]] Result<CallResult> output(const contract::Context& context,
                                          const OutputRequest& request);

  /// Writes to the standard input of a call that was started with `input_open` or `terminal`;
  /// returns at once, the call takes it as it reads.
  ///
  /// Errors: NotFound; InvalidArgument (no open input, or it has ended); ResourceExhausted (too
  /// much waits unread, nothing was taken).
  [[nodiscard]] Result<> write_input(const InputRequest& request);

  /// Stops a running call as a cancel would; returns at once.
  [[nodiscard]] Result<> stop(const std::string& call);

  /// The calls whose output is kept, oldest first.
  [[nodiscard]] std::vector<CallSummary> recent() const;

  /// Ends the shell and all that it started and starts a new one, with its state or a fresh one.
  [[nodiscard]] Result<Restored> restart(const contract::Context& context, bool keep_state);

  /// Ends everything inside. Idempotent. Blocking: bounded by the warden's close.
  void close();

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const sandbox::Policy& policy() const noexcept;
  [[nodiscard]] const std::string& workspace() const noexcept;
  /// What the warden confirmed.
  [[nodiscard]] const contract::Confinement& confinement() const noexcept;
  [[nodiscard]] const Identity& identity() const noexcept;
  /// "NAME=value": what programs started in this session get.
  [[nodiscard]] const std::vector<std::string>& environment() const noexcept;
  /// For whoever resolves paths inside this wall.
  [[nodiscard]] const std::shared_ptr<sandbox::Warden>& warden() const noexcept;
  /// True where its processes and files are not this machine's to look at.
  [[nodiscard]] bool elsewhere() const noexcept;
  /// False once the wall is gone.
  [[nodiscard]] bool alive() const noexcept;
  /// How long no call has been running; none while one is. Background jobs do not count.
  [[nodiscard]] std::optional<Milliseconds> idle_for() const;

  class Impl;  ///< the library's own

 private:
  explicit Session(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<Impl>> make_impl(SessionConfig config,
                                                 std::unique_ptr<const class SessionFiles> files,
                                                 std::shared_ptr<sandbox::Warden> warden,
                                                 std::vector<std::string> environment);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bawn::shell
