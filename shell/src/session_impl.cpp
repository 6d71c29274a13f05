#include "session_impl.hpp"

#include "bash_call.hpp"
#include "exec_call.hpp"
#include "random_name.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {

constexpr int kStateTimeoutMs = 5000;

Result<> check_text(std::string_view what, std::string_view text, std::size_t limit) {
  if (text.find('\0') != std::string_view::npos) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("the {} holds a NUL byte, which bash would drop; write it as "
                                      "an escape that the command itself expands",
                                      what));
  }
  if (text.size() > limit) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("the {} has {} bytes, at most {} are taken; put it into a "
                                      "file and run that",
                                      what, text.size(), limit));
  }
  return {};
}

}  // namespace

Session::Impl::Impl(SessionConfig session_config, SessionDir directory,
                    std::shared_ptr<sandbox::Warden> wall,
                    std::vector<std::string> session_environment, ReportChannel report_channel,
                    std::string report_path)
    : config(std::move(session_config)),
      dir(std::move(directory)),
      warden(std::move(wall)),
      environment(std::move(session_environment)),
      marker_prefix(random_name(22) + "."),
      reports(std::move(report_channel)),
      calls(config.limits.recent_calls),
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
  struct stat owner{};
  if (stat(fmt::format("/proc/{}", shell_->child().pid()).c_str(), &owner) == 0) {
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

Result<CallPtr> Session::Impl::new_record(const char* kind) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_number_;
  }
  auto record =
      std::make_shared<CallRecord>(marker_prefix + std::to_string(number), kind, number,
                                   config.limits, dir.path(), BAWN_TRY(os::EventFd::make()));
  return record;
}

Result<> Session::Impl::claim_step(const CallPtr& record) {
  std::unique_lock lock(mutex_);
  // A call that is being stopped is over for its caller: the next one waits for the few steps of
  // stopping instead of being told that the shell is busy.
  slot_free_.wait(lock, [&] {
    return closed_ ||
           (!maintaining_ && (running_ == nullptr || running_->stop_cause() == StopCause::None));
  });
  if (closed_) {
    return contract::fail(ErrorCode::Closed, fmt::format("session {} is closed", config.name));
  }
  if (running_ != nullptr) {
    return contract::fail(
        ErrorCode::Busy,
        fmt::format(
            "the previous command is still running: call {} in session {}; wait for it with "
            "bash_output, stop it with bash_kill, or use another session",
            running_->id, config.name));
  }
  running_ = record;
  return {};
}

void Session::Impl::release_step() {
  {
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    slot_free_.notify_all();
  }
  keeper->arm(config.limits.snapshot_idle);
}

void Session::Impl::release_exec() {
  const std::lock_guard lock(mutex_);
  --running_exec_;
  slot_free_.notify_all();
}

bool Session::Impl::claim_maintenance(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) {
    slot_free_.wait(lock, [&] { return (running_ == nullptr && !maintaining_) || closed_; });
  }
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

Result<Restored> Session::Impl::replace_shell(bool keep_state) {
  Restored restored = Restored::Nothing;
  std::string state;
  if (keep_state) {
    state = shell_ == nullptr ? std::string() : shell_->take_exit_state();
    restored = Restored::Full;
    if (state.empty()) {
      state = state_;
      restored = state.empty() ? Restored::Nothing : Restored::Snapshot;
    }
  }
  shell_.reset();
  known_jobs.clear();
  auto started = BashProcess::start(*warden, dir, reports, bash_start(state));
  if (!started && !state.empty()) {
    // The state itself may be what keeps the shell from coming up.
    restored = Restored::Nothing;
    state_.clear();
    started = BashProcess::start(*warden, dir, reports, bash_start({}));
  }
  shell_ = BAWN_TRY(std::move(started));
  return restored;
}

void Session::Impl::on_idle() {
  if (!claim_maintenance(false)) {
    return;
  }
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
  if (shell_->write_line("__by " + nonce + " " + name) &&
      reports.wait(nonce, shell_->child().exit_event(), kStateTimeoutMs)) {
    std::string state = read_state(file->get(), config.limits.snapshot_bytes);
    if (!state.empty()) {
      state_ = std::move(state);
    }
  }
  dir.remove_output(name);
}

void Session::Impl::complete(CallResult& result) {
  result.session = config.name;
  if (watch != nullptr) {
    result.protected_changes = watch->look();
  }
  for (const std::string& id : calls.take_unseen()) {
    result.notes.push_back(fmt::format(
        "Call {} was cancelled before its result was seen; bash_output shows what it printed.",
        id));
  }
}

void Session::Impl::continue_alone(std::shared_ptr<DrivenCall> call) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  const std::lock_guard lock(mutex_);
  for (auto it = workers_.begin(); it != workers_.end();) {
    if (it->done->load()) {
      it->thread.join();
      it = workers_.erase(it);
    } else {
      ++it;
    }
  }
  workers_.push_back({std::thread([call = std::move(call), done] {
                        std::ignore = call->drive(contract::Context(), std::nullopt);
                        done->store(true);
                      }),
                      done});
}

CallResult Session::Impl::drive(const contract::Context& context, std::shared_ptr<DrivenCall> call,
                                std::optional<Milliseconds> yield, std::size_t view_bytes) {
  const CallPtr record = call->record();
  std::optional<DrivenCall::Clock::time_point> yield_at;
  if (yield) {
    yield_at = DrivenCall::Clock::now() + *yield;
  }
  if (call->drive(context, yield_at) == DrivenCall::Progress::Yielded) {
    continue_alone(std::move(call));
    return record->answer({.view_bytes = view_bytes, .out_from = 0, .err_from = 0});
  }
  CallResult result = record->answer({.view_bytes = view_bytes, .out_from = 0, .err_from = 0});
  result.session = config.name;
  if (context.cancelled()) {
    record->mark_unanswered();
    calls.mark_unseen(record->id);
  }
  return result;
}

Result<CallResult> Session::Impl::run(const contract::Context& context, BashRequest request) {
  BAWN_TRY(check_text("command", request.command, config.limits.text_bytes));
  if (request.input && request.input->size() > config.limits.text_bytes) {
    BAWN_TRY(
        check_text("input", std::string(request.input->size(), ' '), config.limits.text_bytes));
  }
  const CallPtr record = BAWN_TRY(new_record("bash"));
  BAWN_TRY(claim_step(record));
  calls.add(record);
  const auto yield = request.yield;
  const std::size_t view_bytes = request.view_bytes;
  auto call = std::make_shared<BashCall>(*this, record, std::move(request), context);
  const auto began = call->begin(context);
  if (!began) {
    calls.remove(record->id);
    release_step();
    return std::unexpected(began.error());
  }
  if (!*began) {
    return record->answer({.view_bytes = view_bytes, .out_from = 0, .err_from = 0});
  }
  return drive(context, std::move(call), yield, view_bytes);
}

Result<CallResult> Session::Impl::exec(const contract::Context& context, ExecRequest request) {
  if (request.argv.empty() || request.argv.front().empty()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "argv is empty; its first item names the program");
  }
  for (const std::string& argument : request.argv) {
    BAWN_TRY(check_text("argument", argument, config.limits.text_bytes));
  }
  const CallPtr record = BAWN_TRY(new_record("exec"));
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return contract::fail(ErrorCode::Closed, fmt::format("session {} is closed", config.name));
    }
    if (running_exec_ >= config.limits.running_exec) {
      return contract::fail(ErrorCode::Busy,
                            fmt::format("{} exec calls are running in session {}, which is the "
                                        "limit; wait for one to end",
                                        running_exec_, config.name));
    }
    ++running_exec_;
  }
  calls.add(record);
  auto call = std::make_shared<ExecCall>(*this, record, request, context);
  const auto began = call->begin(request);
  if (!began) {
    calls.remove(record->id);
    release_exec();
    return std::unexpected(began.error());
  }
  return drive(context, std::move(call), request.yield, request.view_bytes);
}

Result<CallResult> Session::Impl::output(const contract::Context& context,
                                         const OutputRequest& request) {
  const CallPtr record = calls.find(request.call);
  if (record == nullptr) {
    return contract::fail(
        ErrorCode::NotFound,
        fmt::format(
            "session {} keeps no call \"{}\": it is unknown, or older than the last {} calls",
            config.name, request.call, config.limits.recent_calls));
  }
  std::optional<contract::Context::Clock::time_point> until;
  if (request.wait) {
    until = contract::Context::Clock::now() + *request.wait;
  }
  std::ignore = record->wait_finished(context, until);
  CallResult result = record->answer({.view_bytes = request.view_bytes,
                                      .out_from = request.out_from,
                                      .err_from = request.err_from});
  result.session = config.name;
  return result;
}

Result<Restored> Session::Impl::restart(const contract::Context& /*context*/, bool keep_state) {
  {
    const std::lock_guard lock(mutex_);
    if (running_ != nullptr) {
      running_->request_stop(StopCause::Cancelled);
    }
  }
  if (!claim_maintenance(true)) {
    return contract::fail(ErrorCode::Closed, fmt::format("session {} is closed", config.name));
  }
  if (keep_state) {
    save_state();
  }
  if (shell_ != nullptr) {
    // Everything the shell started goes with it, background jobs of earlier calls included.
    std::ignore = warden->signal({.kind = sandbox::SignalTarget::Kind::Session,
                                  .id = 0,
                                  .call = {},
                                  .not_before = 0,
                                  .keep_pid = 0},
                                 SIGKILL);
  }
  auto restored = replace_shell(keep_state);
  release_maintenance();
  return restored;
}

}  // namespace bawn::shell
