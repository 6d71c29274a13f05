/// \file
/// `bawn run`: one command inside the wall, its exit status as ours. This process has one thread
/// and becomes the stub itself, so nothing stands between it and the warden.

#include "bawn/contract/quote.hpp"
#include "bawn/sandbox/protected_watch.hpp"
#include "bawn/sandbox/wall.hpp"
#include "call_text.hpp"
#include "commands.hpp"
#include "duration.hpp"
#include "environment.hpp"
#include "policy_choice.hpp"
#include "program.hpp"
#include "report_file.hpp"
#include "run_wait.hpp"
#include "runtime_dir.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;

struct RunOptions {
  WallOptions wall;
  std::optional<std::string> timeout;
  std::string report;
  std::vector<std::string> command;
};

Result<os::UniqueFd> duplicate(int fd) {
  os::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy.is_open() && errno != EBADF) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot pass a standard stream on"));
  }
  return copy;
}

/// The directory we were started in when it lies in the workspace, else the workspace.
std::string start_directory(const std::string& workspace) {
  std::error_code failed;
  const auto here = std::filesystem::current_path(failed).string();
  const bool inside = here == workspace || here.starts_with(workspace + "/");
  return !failed && inside ? here : workspace;
}

/// What the command asked of the network. Refusals are said; all of it is in the report.
void tell_connections(const sandbox::Warden& warden, contract::Json& report) {
  const auto egress = warden.egress();
  if (egress == nullptr) {
    return;
  }
  contract::Json connections = contract::Json::array();
  for (const sandbox::EgressDecision& decision : egress->decisions(0)) {
    connections.push_back(to_json(decision));
    if (!decision.allowed) {
      std::fprintf(stderr, "bawn: refused: %s %s:%u: %s\n",
                   std::string(to_string(decision.via)).c_str(), decision.host.c_str(),
                   static_cast<unsigned>(decision.port), decision.rule.c_str());
    }
  }
  report["connections"] = std::move(connections);
}

/// What the kernel recorded as denied.
void tell_denials(const sandbox::Wall& wall, contract::Json& report) {
  if (wall.audit == nullptr) {
    return;
  }
  contract::Json denials = contract::Json::array();
  for (const sandbox::AuditDenial& denial : wall.audit->denials(0)) {
    denials.push_back(to_json(denial));
  }
  report["denials"] = std::move(denials);
}

/// What no layer could hold is said when the command is over; a report without the member means
/// that nobody looked.
void tell_changes(const sandbox::Wall& wall, contract::Json& report) {
  if (wall.watch == nullptr) {
    return;
  }
  // What the command left behind may still write: it ends first, so that the look is the last word.
  std::ignore = wall.warden->signal(sandbox::SignalTarget(), SIGKILL);
  contract::Json changed = contract::Json::array();
  for (const sandbox::ProtectedChange& change : wall.watch->look()) {
    const auto word = to_string(change.kind);
    changed.push_back({{"path", change.path}, {"change", word}});
    std::fprintf(stderr,
                 "bawn: protected name %.*s: %s; programs outside obey it, so look at it first\n",
                 static_cast<int>(word.size()), word.data(), contract::quote(change.path).c_str());
  }
  report["protected_changed"] = std::move(changed);
}

Result<int> run_command(const RunOptions& options) {
  std::optional<std::chrono::milliseconds> timeout;
  if (options.timeout) {
    timeout = BAWN_TRY(parse_duration(*options.timeout));
  }
  sandbox::WallRequest request;
  request.policy = BAWN_TRY(choose_policy(options.wall));
  request.workspace = options.wall.workspace;
  BAWN_TRY(check_apart_from_state(request.workspace));
  (void)runtime_dir();  // what is not there cannot be hidden; whether it must be, the survey says
  request.warden.fork_stub = true;
  auto report = BAWN_TRY(ReportFile::open(options.report));

  RunSignals signals = BAWN_TRY(RunSignals::block());
  sandbox::Wall wall = BAWN_TRY(sandbox::raise_wall(request));
  BAWN_TRY(report.write(contract::to_json(wall.warden->report())));
  std::fputs(unconfined_line(wall.warden->report()).c_str(), stderr);

  sandbox::SpawnSpec spec;
  spec.argv = options.command;
  spec.env = sandbox::session_environment(request.policy, wall.plan, own_environment(),
                                          sandbox::proxy_port(*wall.warden));
  spec.cwd = start_directory(wall.plan.workspace);
  spec.standard_input = BAWN_TRY(duplicate(STDIN_FILENO));
  spec.standard_output = BAWN_TRY(duplicate(STDOUT_FILENO));
  spec.standard_error = BAWN_TRY(duplicate(STDERR_FILENO));
  auto child = BAWN_TRY(wall.warden->spawn(std::move(spec)));
  BAWN_TRY(child->go());
  auto status = wait_for(*child, *wall.warden, signals, timeout, options.command.front());
  contract::Json told = contract::to_json(wall.warden->report());
  tell_connections(*wall.warden, told);
  tell_denials(wall, told);
  if (report.is_wanted()) {
    wall.warden->close();  // what is still there could replace the report behind us
  }
  tell_changes(wall, told);
  BAWN_TRY(report.write(told));
  wall.warden->abandon();
  return status;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run one command inside the wall");
  add_wall_options(*command, options->wall);
  command->add_option("--timeout", options->timeout,
                      "End the command after this long (500ms, 30s, 5m); exit status 124");
  command->add_option("--report", options->report,
                      "Write the confinement report to this file as JSON");
  command->add_option("command", options->command, "The program and its arguments, behind --")
      ->required();
  command->positionals_at_end();
  command->callback([options, &chosen] {
    chosen = [options] {
      auto status = run_command(*options);
      if (!status) {
        tell_failure("bawn", status.error().message());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
