#include "session_impl.hpp"

#include "random_name.hpp"
#include "snapshot_shell.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace bawn::shell {

namespace {

/// Where the kernel counts kills for lack of memory: the session's own where it has a cgroup with a
/// limit, else the machine's.
std::string counters_of(const std::string& chosen, const sandbox::Warden& warden) {
  if (!chosen.empty()) {
    return chosen;
  }
  const std::string cgroup = warden.cgroup();
  const std::string own = cgroup + "/memory.events";
  return !cgroup.empty() && ::access(own.c_str(), R_OK) == 0 ? own : "/proc/vmstat";
}

}  // namespace

Session::Impl::Impl(SessionConfig session_config, std::unique_ptr<const SessionFiles> session_files,
                    std::shared_ptr<sandbox::Warden> wall,
                    std::vector<std::string> session_environment, ReportChannel report_channel,
                    std::string report_path)
    : config(std::move(session_config)),
      files(std::move(session_files)),
      dir(*files),
      warden(std::move(wall)),
      environment(std::move(session_environment)),
      marker_prefix(random_name(22) + "."),
      reports(std::move(report_channel)),
      calls(config.limits.recent_calls),
      steps(dir),
      memory_kills(counters_of(config.kernel_counters, *warden)),
      report_path_(std::move(report_path)) {}

Session::Impl::~Impl() {
  close();
}

BashStart Session::Impl::bash_start(std::string state) const {
  return {.bash = bash_path,
          .environment = environment,
          .directory = config.workspace,
          .marker_prefix = marker_prefix,
          .report_path = report_path_,
          .state = std::move(state),
          .state_limit = config.limits.snapshot_bytes};
}

Result<> Session::Impl::bring_up() {
  keeper = BAWN_TRY(Keeper::start([this] { on_idle(); }, [this] { checker->prepare(); }));
  BAWN_TRY(start_shell());
  for (const std::string& entry : environment) {
    if (entry.starts_with("HOME=")) {
      identity.home = entry.substr(5);
    }
  }
  return {};
}

void Session::Impl::identify(const sandbox::Child& child) {
  struct stat owner{};
  if (!elsewhere() && stat(fmt::format("/proc/{}", child.pid()).c_str(), &owner) == 0) {
    identity.uid = owner.st_uid;
    identity.gid = owner.st_gid;
  }
}

Result<> Session::Impl::start_bash(const std::string& path) {
  bash_path = path;
  shell_ = BAWN_TRY(BashProcess::start(*warden, dir, reports, bash_start({})));
  note_shell(shell_->first_report());
  identify(shell_->child());
  checker = std::make_unique<SyntaxChecker>(warden, bash_parser(path), environment,
                                            config.workspace, marker_prefix + "check");
  return {};
}

Result<> Session::Impl::start_shell() {
  if (config.shell != ShellKind::Sh) {
    auto started = start_bash(config.bash);
    const auto is_missing = [&] {
      return !started && started.error().code() == ErrorCode::NotFound &&
             config.shell == ShellKind::Auto;
    };
    if (is_missing()) {
      started = start_bash("bash");  // wherever the session's PATH has one
    }
    if (!is_missing()) {
      return started;
    }
  }
  snapshot = BAWN_TRY(SnapshotShell::start(*this, config.sh));
  checker = place_files != nullptr
                ? std::make_unique<SyntaxChecker>(
                      [this](const contract::Context& context, std::string_view text) {
                        return parse_there(context, text);
                      })
                : std::make_unique<SyntaxChecker>(warden, sh_parser(config.sh), environment,
                                                  config.workspace, marker_prefix + "check");
  return {};
}

void Session::Impl::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) {
      return;
    }
  }
  warden->close();
  for (const CallPtr& call : calls.all()) {
    call->request_stop(StopCause::Closed);
  }
  {
    std::unique_lock lock(mutex_);
    slot_free_.notify_all();
    slot_free_.wait(lock,
                    [&] { return running_ == nullptr && !maintaining_ && running_exec_ == 0; });
  }
  for (Worker& worker : workers_) {
    worker.thread.join();
  }
  workers_.clear();
  if (keeper != nullptr) {
    keeper->stop();
  }
  shell_.reset();
  checker.reset();
  steps.close();
  dir.remove();
}

std::string Session::Impl::absolute(const std::string& directory) const {
  return directory.empty() || directory.starts_with('/') ? directory
                                                         : config.workspace + "/" + directory;
}

Result<std::optional<SyntaxFault>> Session::Impl::check_syntax(const contract::Context& context,
                                                               const std::string& text) {
  auto fault = checker->check(context, text);
  if (!checker->ready()) {
    keeper->ask_spare();  // the next check finds one waiting
  }
  return fault;
}

Result<Parsed> Session::Impl::parse_there(const contract::Context& context, std::string_view text) {
  const std::string name = random_name(8);
  BAWN_TRY(dir.write_text(name, text));
  auto parsed = place_files->parse(context, config.sh, dir.read_side() + name);
  dir.remove_text(name);
  return parsed;
}

Result<> Session::Impl::wait_for_slot(std::unique_lock<std::mutex>& lock,
                                      const contract::Context& context,
                                      const std::function<bool()>& is_free) {
  const auto ready = [&] { return closed_ || is_free(); };
  const auto deadline = context.deadline();
  const bool came = deadline ? slot_free_.wait_until(lock, context.stop_token(), *deadline, ready)
                             : slot_free_.wait(lock, context.stop_token(), ready);
  if (closed_) {
    return contract::fail(ErrorCode::Closed, fmt::format("session {} is closed", config.name));
  }
  if (!came) {
    return contract::fail(
        context.cancelled() ? ErrorCode::Cancelled : ErrorCode::DeadlineExceeded,
        fmt::format("the call was given up while it waited for the shell of session {}; nothing "
                    "of it ran",
                    config.name));
  }
  return {};
}

Result<> Session::Impl::claim_step(const contract::Context& context, const CallPtr& record) {
  std::unique_lock lock(mutex_);
  // A call that is being stopped is over for its caller: the next one waits for the few steps of
  // stopping instead of being told that the shell is busy.
  BAWN_TRY(wait_for_slot(lock, context, [&] {
    return !maintaining_ && (running_ == nullptr || running_->stop_cause() == StopCause::None);
  }));
  if (running_ != nullptr) {
    return contract::fail(
        ErrorCode::Busy,
        fmt::format(
            "the previous command is still running: call {} in session {}; wait for it with "
            "bash_output, stop it with bash_kill, or use another session",
            running_->id, config.name));
  }
  running_ = record;
  idle_cpu_.reset();
  state_current_ = false;
  return {};
}

void Session::Impl::release_step() {
  {
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    last_call_ = std::chrono::steady_clock::now();
    slot_free_.notify_all();
  }
  keeper->arm(config.limits.snapshot_idle);
}

void Session::Impl::abandon(const CallPtr& record) noexcept {
  if (record->finished()) {
    return;  // only its answer was too large
  }
  try {
    warden->close();
  } catch (...) {  // the end of its stream ends it as well, and is the first that close() does
  }
  record->abandon();
  release_exec(*record);
  const std::lock_guard lock(mutex_);
  if (running_ == record) {
    running_ = nullptr;
  }
  slot_free_.notify_all();
}

void Session::Impl::release_exec(CallRecord& record) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(record.has_place, false)) {
    return;
  }
  --running_exec_;
  last_call_ = std::chrono::steady_clock::now();
  slot_free_.notify_all();
}

std::optional<Milliseconds> Session::Impl::idle_for() const {
  const std::lock_guard lock(mutex_);
  if (running_ != nullptr || running_exec_ != 0) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - last_call_);
}

bool Session::Impl::claim_maintenance() {
  const std::lock_guard lock(mutex_);
  if (closed_ || running_ != nullptr || maintaining_) {
    return false;
  }
  maintaining_ = true;
  return true;
}

void Session::Impl::release_maintenance() {
  const std::lock_guard lock(mutex_);
  maintaining_ = false;
  slot_free_.notify_all();
}

void Session::Impl::note_shell(const StepReport& report) {
  last_status = report.status;
  exports_all = report.flags.find('a') != std::string::npos;
}

Result<Restored> Session::Impl::replace_shell(bool keep_state) {
  Restored restored = Restored::Nothing;
  std::string state;
  if (keep_state) {
    state = shell_ == nullptr ? std::string() : shell_->take_exit_state();
    restored = Restored::Full;
    const std::lock_guard lock(mutex_);
    if (state.empty()) {
      state = state_;
      restored = state.empty() ? Restored::Nothing : Restored::Snapshot;
    } else {
      state_ = state;  // the next shell may end before it is at rest long enough to be saved
    }
  }
  shell_.reset();
  known_jobs.clear();
  last_background = 0;
  idle_cpu_.reset();
  auto started = BashProcess::start(*warden, dir, reports, bash_start(state));
  if (!started && !state.empty()) {
    // The state itself may be what keeps the shell from coming up.
    restored = Restored::Nothing;
    {
      const std::lock_guard lock(mutex_);
      state_.clear();
    }
    started = BashProcess::start(*warden, dir, reports, bash_start({}));
  }
  shell_ = BAWN_TRY(std::move(started));
  note_shell(shell_->first_report());
  return restored;
}

}  // namespace bawn::shell
