/// \file
/// One command behind a wall of its own, as a direct child of this process: for programs that wait
/// for processes themselves. launcher.hpp gives it to Boost.Process.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/policy.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// What to start.
struct LaunchSpec {
  std::vector<std::string> argv;  ///< argv[0] is looked up in PATH when it has no slash
  /// "NAME=value", added to what the wall itself sets (HOME, PATH, TMPDIR, ...). Absent = this
  /// process's environment as far as the policy lets it in.
  std::optional<std::vector<std::string>> env;
  std::string
      cwd;  ///< absolute; empty = the current directory if it is in the workspace, else that
  int standard_input = 0;  ///< descriptors of this process, borrowed until the call returns
  int standard_output = 1;
  int standard_error = 2;
};

/// A command that executes. Its process is the stub that stands for it: a direct child of this
/// process, to be waited for with waitpid(2), which ends with the command's exit status or signal.
///
/// SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT and SIGWINCH to it go to the
/// command. Its end, also by SIGKILL, ends all that runs behind the wall, and so does this
/// process's. What the command leaves running ends with it.
struct LaunchedCommand {
  int pid = 0;
  os::UniqueFd pidfd;            ///< readable at its end
  contract::Confinement report;  ///< what was confirmed before the command executed
};

/// Starts commands under one policy, each behind a wall of its own.
///
/// It must outlive the commands when the policy names hosts (the proxy is in it) or where there are
/// no mounts (their temporary directory is its own). Where the network needs the supervision of
/// connect(2) instead of a network namespace, "allow-list" is refused: nobody would supervise.
///
/// Threads: thread-safe.
class CommandLauncher {
 public:
  struct Options {
    Policy policy;
    std::string workspace;  ///< absolute or relative to the current directory
    std::string program;    ///< path of bawn-warden; empty as for Warden::Options
  };
  explicit CommandLauncher(Options options);
  CommandLauncher(const CommandLauncher&) = delete;
  CommandLauncher& operator=(const CommandLauncher&) = delete;
  ~CommandLauncher();

  /// Builds the wall and starts the command. No descriptor but the three enters it, and none that
  /// this makes can be inherited by others.
  ///
  /// Errors: as raise_wall() and Warden::spawn(), and the errno of execve(2) (NotFound,
  /// PermissionDenied, ...): after success the command has executed.
  /// Blocking: until then, some milliseconds; at most 30 s for each of wall and command.
  [[nodiscard]] Result<LaunchedCommand> start(const LaunchSpec& spec);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bawn::sandbox
