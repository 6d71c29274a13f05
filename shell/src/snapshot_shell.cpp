#include "snapshot_shell.hpp"

#include "aside.hpp"
#include "driver_script.hpp"
#include "random_name.hpp"
#include "sh_script.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::shell {

namespace {

constexpr std::chrono::seconds kStartTimeout{10};

/// What the shell itself makes read-only is no state: assigning to it would end the next one.
void leave_out(ShState& state, const std::set<std::string>& names) {
  for (const std::string& name : names) {
    state.variables.erase(name);
    state.read_only.erase(name);
  }
}

/// The variable, and whether it is read-only, as they were before.
void put_back(ShState& state, const ShState& before, const std::string& name) {
  state.variables.erase(name);
  if (const auto old = before.variables.find(name); old != before.variables.end()) {
    state.variables.insert(*old);
  }
  if (!before.read_only.contains(name)) {
    state.read_only.erase(name);
  }
}

/// What one call is given for itself does not stay.
void put_back(ShState& state, const ShState& before, const BashRequest& request) {
  for (const auto& [name, value] : request.environment) {
    put_back(state, before, name);
    state.exported.erase(name);
    if (before.exported.contains(name)) {
      state.exported.insert(name);
    }
  }
  if (request.cwd.empty()) {
    return;
  }
  state.directory = before.directory;
  state.directory_missing = before.directory_missing;
  put_back(state, before, "PWD");
  put_back(state, before, "OLDPWD");
}

}  // namespace

SnapshotShell::SnapshotShell(std::string program, ShState first, std::set<std::string> own,
                             bool prints_functions)
    : program_(std::move(program)),
      first_(std::move(first)),
      own_(std::move(own)),
      prints_functions_(prints_functions),
      state_(first_) {}

Result<std::unique_ptr<SnapshotShell>> SnapshotShell::start(Session::Impl& session,
                                                            std::string program) {
  const SessionFiles& dir = session.dir;
  const std::string name = random_name(8);
  const ShScript script{.text = {},
                        .left_behind = dir.write_side() + name + ".x",
                        .refuge = dir.read_side(),
                        .directory = {},
                        .variables = {},
                        .prints_functions = true};
  const StateFile left = BAWN_TRY(dir.make_state_file(name + ".x"));
  BAWN_TRY(dir.write_text(name, sh_script(script, nullptr)));
  sandbox::SpawnSpec spec;
  spec.argv = {program, dir.read_side() + name};
  spec.env = session.environment;
  spec.cwd = session.config.workspace;
  spec.call = session.marker_prefix + "check";
  const auto child = BAWN_TRY(session.warden->spawn(std::move(spec)));
  session.identify(*child);
  BAWN_TRY(child->go());
  const auto status = BAWN_TRY(child->wait(
      contract::Context().with_deadline(contract::Context::Clock::now() + kStartTimeout)));
  std::optional<ShState> state = parse_sh_state(left.read(session.config.limits.snapshot_bytes));
  dir.remove_text(name);
  dir.remove_output(name + ".x");
  if (status.exec_errno != 0) {
    return std::unexpected(
        Error::from_errno(status.exec_errno, "execve", fmt::format("cannot start {}", program)));
  }
  if (!state) {
    return contract::fail(
        ErrorCode::Internal,
        fmt::format("{} is no POSIX shell: it ended with status {} and without saying its state",
                    program, status.shell_code()));
  }
  std::set<std::string> own = state->read_only;
  leave_out(*state, own);
  const bool functions = shows_functions(*state);
  state->functions.clear();
  return std::unique_ptr<SnapshotShell>(
      new SnapshotShell(std::move(program), *std::move(state), std::move(own), functions));
}

std::vector<std::string> SnapshotShell::not_kept() const {
  std::vector<std::string> list = {
      "jobs and $! (processes in the background go on, but cannot be "
      "waited for)",
      "traps",
      "positional parameters",
      "ulimit",
      "open descriptors",
      "arrays"};
  if (!prints_functions_) {
    list.insert(list.begin(), "functions");
  }
  return list;
}

Result<Launch> SnapshotShell::launch(const Session::Impl& session, const BashRequest& request,
                                     bool keeps) const {
  const SessionFiles& dir = session.dir;
  Launch launch;
  launch.files = random_name(8);
  ShScript script{.text = dir.read_side() + launch.files + ".t",
                  .left_behind = {},
                  .refuge = dir.read_side(),
                  .directory = session.absolute(request.cwd),
                  .variables = request.environment,
                  .prints_functions = prints_functions_};
  if (request.terminal) {
    script.variables = with_terminal(std::move(script.variables));
  }
  if (keeps) {
    script.left_behind = dir.write_side() + launch.files + ".q";
    launch.left_behind = BAWN_TRY(dir.make_state_file(launch.files + ".q"));
  }
  {
    const std::lock_guard lock(mutex_);
    script.last_status = last_status_;
    BAWN_TRY(dir.write_text(launch.files, sh_script(script, &state_)));
  }
  BAWN_TRY(dir.write_text(launch.files + ".t", request.command, "\n"));
  // As $0, so that its messages name no file of ours; the script's path is no text of the call's.
  launch.argv = {program_, "-c", ". " + shell_quote(dir.read_side() + launch.files), "sh"};
  launch.shown_as = "sh";
  launch.cwd = session.config.workspace;
  apply(request, launch);
  return launch;
}

SnapshotShell::Taken SnapshotShell::take(const Launch& launch, const BashRequest& request,
                                         std::size_t limit, CallResult& result) {
  std::optional<ShState> state = parse_sh_state(launch.left_behind.read(limit));
  const std::lock_guard lock(mutex_);
  Taken taken = Taken::None;
  if (state && !state->began) {
    state_ = first_;
    taken = Taken::Refused;
  } else if (state) {
    leave_out(*state, own_);
    put_back(*state, state_, request);
    if (!request.keep_options) {
      result.options_reset = state->poisonous();
      for (const std::string& option : result.options_reset) {
        state->options.erase(option);
      }
    }
    state_ = *std::move(state);
    taken = Taken::Kept;
  }
  result.cwd = state_.directory;
  result.cwd_missing = state_.directory_missing;
  return taken;
}

void SnapshotShell::set_last_status(int status) {
  const std::lock_guard lock(mutex_);
  last_status_ = status;
}

void SnapshotShell::forget() {
  const std::lock_guard lock(mutex_);
  state_ = first_;
  last_status_ = 0;
}

bool SnapshotShell::introduce() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(introduced_, true);
}

}  // namespace bawn::shell
