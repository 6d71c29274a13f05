#include "session_impl.hpp"

#include "call_processes.hpp"
#include "driver_script.hpp"
#include "random_name.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bawn::shell {

namespace {

constexpr int kStateTimeoutMs = 5000;

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
      memory_kills(counters_of(config.kernel_counters, *warden)),
      report_path_(std::move(report_path)) {}

Session::Impl::~Impl() {
  close();
}

BashStart Session::Impl::bash_start(std::string state) const {
  return {.bash = config.bash,
          .environment = environment,
          .directory = config.workspace,
          .marker_prefix = marker_prefix,
          .report_path = report_path_,
          .state = std::move(state),
          .state_limit = config.limits.snapshot_bytes};
}

Result<> Session::Impl::bring_up() {
  keeper = BAWN_TRY(Keeper::start([this] { on_idle(); }, [this] { checker->prepare(); }));
  checker = std::make_unique<SyntaxChecker>(warden, config.bash, environment, config.workspace,
                                            marker_prefix + "check");
  shell_ = BAWN_TRY(BashProcess::start(*warden, dir, reports, bash_start({})));
  note_shell(shell_->first_report());
  struct stat owner{};
  if (warden->relay() == nullptr &&
      stat(fmt::format("/proc/{}", shell_->child().pid()).c_str(), &owner) == 0) {
    identity.uid = owner.st_uid;
    identity.gid = owner.st_gid;
  }
  for (const std::string& entry : environment) {
    if (entry.starts_with("HOME=")) {
      identity.home = entry.substr(5);
    }
  }
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

void Session::Impl::release_exec() {
  const std::lock_guard lock(mutex_);
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
    if (state.empty()) {
      const std::lock_guard lock(mutex_);
      state = state_;
      restored = state.empty() ? Restored::Nothing : Restored::Snapshot;
    }
  }
  shell_.reset();
  known_jobs.clear();
  last_background = 0;
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

void Session::Impl::on_idle() {
  if (!claim_maintenance()) {
    return;
  }
  memory_kills.begin();
  save_state();
  checker->prepare();
  release_maintenance();
}

void Session::Impl::save_state() {
  if (shell_ == nullptr || !shell_->running()) {
    return;
  }
  const std::string name = random_name(8);
  const std::string nonce = random_name(12);
  const auto file = dir.make_state_file(name);
  if (!file) {
    return;
  }
  if (shell_->write_line(fmt::format("__by {} {}", nonce, shell_quote(dir.write_side() + name))) &&
      reports.wait(nonce, shell_->child().exit_event(), kStateTimeoutMs)) {
    std::string state = read_state(*file, config.limits.snapshot_bytes);
    if (!state.empty()) {
      const std::lock_guard lock(mutex_);
      state_ = std::move(state);
      state_current_ = true;
    }
  }
  dir.remove_output(name);
}

Result<std::string> Session::Impl::current_state(const contract::Context& context,
                                                 std::vector<std::string>& notes) {
  {
    std::unique_lock lock(mutex_);
    BAWN_TRY(wait_for_slot(lock, context, [&] { return !maintaining_; }));
    if (running_ != nullptr || state_current_) {
      if (running_ != nullptr) {
        notes.push_back(fmt::format(
            "Call {} was using the shell: this one began with the state from before it.",
            running_->id));
      }
      return state_;
    }
    maintaining_ = true;
  }
  save_state();
  release_maintenance();
  const std::lock_guard lock(mutex_);
  if (!state_current_) {
    notes.push_back(fmt::format(
        "The shell's state could not be taken (larger than {} bytes, or the shell ended): this "
        "call began with an earlier one.",
        config.limits.snapshot_bytes));
  }
  return state_;
}

void Session::Impl::end_shell_processes() {
  // Whoever began as a call beside the shell, or below one, stays.
  std::set<std::string> spared = {marker_prefix + "check"};
  for (const CallPtr& call : calls.all()) {
    if (call->is_aside()) {
      spared.insert(call->id);
    }
  }
  for (int round = 0; round < 8; ++round) {
    const auto processes = warden->tree();
    if (!processes) {
      return;
    }
    std::map<int, const sandbox::ProcessInfo*> by_pid;
    for (const sandbox::ProcessInfo& process : *processes) {
      by_pid.emplace(process.pid, &process);
    }
    int ended = 0;
    for (const sandbox::ProcessInfo& process : *processes) {
      bool stays = process.state == 'Z';
      const sandbox::ProcessInfo* at = &process;
      for (int depth = 0; at != nullptr && !stays && depth < 64; ++depth) {
        stays = spared.contains(at->call);
        const auto parent = by_pid.find(at->parent);
        at = parent == by_pid.end() ? nullptr : parent->second;
      }
      if (!stays) {
        ended += signal_process(*warden, process.inside_pid, SIGKILL).value_or(0);
      }
    }
    if (ended == 0) {
      return;
    }
  }
}

Result<Restored> Session::Impl::restart(const contract::Context& context, bool keep_state) {
  {
    std::unique_lock lock(mutex_);
    if (running_ != nullptr) {
      running_->request_stop(StopCause::Cancelled);
    }
    BAWN_TRY(wait_for_slot(lock, context, [&] { return running_ == nullptr && !maintaining_; }));
    maintaining_ = true;
  }
  if (keep_state) {
    save_state();
  }
  if (shell_ != nullptr) {
    // Everything the shell started goes with it, background jobs of earlier calls included.
    end_shell_processes();
  }
  auto restored = replace_shell(keep_state);
  release_maintenance();
  return restored;
}

}  // namespace bawn::shell
