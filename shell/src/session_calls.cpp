// The calls of a session: what is refused, what runs in the shell and what beside it, and how the
// result is waited for.
#include "aside.hpp"
#include "bash_call.hpp"
#include "call_processes.hpp"
#include "exec_call.hpp"
#include "request_checks.hpp"
#include "session_impl.hpp"
#include "snapshot_shell.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <functional>
#include <new>
#include <stop_token>
#include <system_error>
#include <utility>

namespace bawn::shell {

namespace {

using StopCallback = std::stop_callback<std::function<void()>>;

std::vector<std::string> merged_environment(std::vector<std::string> environment,
                                            const Variables& changes) {
  for (const auto& [name, value] : changes) {
    const std::string prefix = name + "=";
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(prefix); });
    environment.push_back(prefix + value);
  }
  return environment;
}

/// Stops the call when its caller gives up, from before it begins.
std::function<void()> stop_of(const CallPtr& record, const contract::Context& context) {
  return [record, &context] {
    record->request_stop(context.reason() == contract::CancelReason::Closed ? StopCause::Closed
                                                                            : StopCause::Cancelled);
  };
}

CallResult well_formed() {
  CallResult result;
  result.reason = Reason::Exited;
  result.exit_code = 0;
  result.message = "the text parses; nothing of it ran";
  return result;
}

CallResult never_began() {
  CallResult result;
  result.reason = Reason::Cancelled;
  result.message = "the call was cancelled before it began";
  return result;
}

/// Nothing of the call ran.
std::unexpected<Error> no_memory() {
  return contract::fail(ErrorCode::ResourceExhausted, "there is no memory for this call now");
}

/// A SIGKILL that nobody here sent, of the process itself or of a command that a shell waited for.
bool was_killed(const CallResult& result) {
  constexpr int kKilled = 128 + SIGKILL;
  return (result.reason == Reason::Signalled && result.signal == SIGKILL) ||
         (result.reason == Reason::Exited && result.exit_code == kKilled);
}

}  // namespace

Result<CallPtr> Session::Impl::new_record(const char* kind, bool aside) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_number_;
  }
  return std::make_shared<CallRecord>(marker_prefix + std::to_string(number), kind, aside, number,
                                      config, dir.spool(), BAWN_TRY(os::EventFd::make()));
}

void Session::Impl::complete(CallResult& result) {
  result.session = config.name;
  if (const std::uint64_t kills = was_killed(result) ? memory_kills.kills() : 0; kills > 0) {
    result.reason = Reason::Oom;
    result.notes.push_back(
        fmt::format("It ended by SIGKILL, and the kernel counts {} killed for lack of memory since "
                    "the session was last idle.",
                    kills == 1 ? "one process" : fmt::format("{} processes", kills)));
  }
  if (watch != nullptr) {
    result.protected_changes = watch->look();
  }
  if (const auto egress = warden->egress()) {
    // Two calls that end at once share what is new: neither must lose it.
    const auto decisions = egress->decisions(seen_decisions.load());
    for (const sandbox::EgressDecision& decision : decisions) {
      seen_decisions.store(decision.number);
      if (!decision.allowed) {
        result.refused_connections.push_back(decision);
      }
    }
  }
  if (audit != nullptr) {
    result.recorded_denials = audit->denials(seen_records.load());
    if (!result.recorded_denials.empty()) {
      seen_records.store(result.recorded_denials.back().number);
    }
  }
  for (const std::string& id : calls.take_unseen()) {
    result.notes.push_back(fmt::format(
        "Call {} was cancelled before its result was seen; bash_output shows what it printed.",
        id));
  }
}

bool Session::Impl::continue_alone(const std::shared_ptr<DrivenCall>& call) {
  const std::lock_guard lock(mutex_);
  for (auto it = workers_.begin(); it != workers_.end();) {
    if (it->done->load()) {
      it->thread.join();
      it = workers_.erase(it);
    } else {
      ++it;
    }
  }
  auto done = std::make_shared<std::atomic<bool>>(false);
  Worker& worker = workers_.emplace_back();
  worker.done = done;
  try {
    worker.thread = std::thread([this, call, done] {
      try {
        std::ignore = call->drive(contract::Context(), std::nullopt, false);
      } catch (const std::bad_alloc&) {
        abandon(call->record());
      }
      done->store(true);
    });
  } catch (const std::system_error&) {
    workers_.pop_back();
    return false;
  }
  return true;
}

CallResult Session::Impl::drive(const contract::Context& context,
                                const std::shared_ptr<DrivenCall>& call,
                                std::optional<Milliseconds> yield, std::size_t view_bytes) {
  try {
    return drive_on(context, call, yield, view_bytes);
  } catch (const std::bad_alloc&) {
    abandon(call->record());
    throw;
  }
}

CallResult Session::Impl::drive_on(const contract::Context& context,
                                   const std::shared_ptr<DrivenCall>& call,
                                   std::optional<Milliseconds> yield, std::size_t view_bytes) {
  const CallPtr record = call->record();
  std::optional<DrivenCall::Clock::time_point> yield_at;
  if (yield) {
    yield_at = DrivenCall::Clock::now() + *yield;
  }
  if (call->drive(context, yield_at, true) == DrivenCall::Progress::Yielded) {
    if (continue_alone(call)) {
      return answer(record, {.view_bytes = view_bytes, .out_from = 0, .err_from = 0});
    }
    record->add_note(
        "No thread could be had to go on in the background, so this waited to the end.");
    std::ignore = call->drive(context, std::nullopt, false);
  }
  CallResult result = answer(record, {.view_bytes = view_bytes, .out_from = 0, .err_from = 0});
  if (context.cancelled()) {
    record->mark_unanswered();
    calls.mark_unseen(record->id);
  }
  return result;
}

CallResult Session::Impl::answer(const CallPtr& record, const CallRecord::Part& part) {
  CallResult result = record->answer(part);
  result.session = config.name;
  if (record->kind == "bash") {
    result.shell = snapshot == nullptr ? "bash" : snapshot->name();
    result.not_kept = snapshot == nullptr ? std::vector<std::string>() : snapshot->not_kept();
  }
  const InputFeed* const input = record->input();
  // Elsewhere nobody looks at what a process waits for: its numbers mean nothing here.
  if (result.state == CallState::Running && input != nullptr && !elsewhere()) {
    const auto processes = warden->tree();
    if (processes &&
        waits_for(*processes, record->id,
                  record->is_aside() ? std::string() : marker_prefix + "shell", *input)) {
      result.waiting_for = input->is_terminal() ? "terminal" : "stdin";
    }
  }
  return result;
}

Result<CallResult> Session::Impl::run(const contract::Context& context, BashRequest request) {
  BAWN_TRY(check_request(request, config.limits.text_bytes));
  if (!warden->alive()) {
    return contract::fail(
        ErrorCode::Closed,
        fmt::format("session {} has ended, with the process that kept it", config.name));
  }
  return request.aside() || request.check_only ? run_aside(context, std::move(request))
                                               : run_in_shell(context, std::move(request));
}

Result<bool> Session::Impl::parses(const contract::Context& context, const CallPtr& record,
                                   const BashRequest& request) {
  if (!request.check_syntax) {
    return true;
  }
  const auto fault = BAWN_TRY(check_syntax(context, request.command));
  if (!fault) {
    return true;
  }
  CallResult result = faulty(*fault);
  complete(result);
  release_step();
  record->finish(std::move(result));
  return false;
}

Result<std::shared_ptr<DrivenCall>> Session::Impl::begin_in_bash(const contract::Context& context,
                                                                 const CallPtr& record,
                                                                 BashRequest request) {
  if (!BAWN_TRY(parses(context, record, request))) {
    return nullptr;
  }
  auto call = std::make_shared<BashCall>(*this, record, std::move(request), context);
  BAWN_TRY(call->begin());
  return call;
}

Result<std::shared_ptr<DrivenCall>> Session::Impl::begin_in_shell(const contract::Context& context,
                                                                  const CallPtr& record,
                                                                  BashRequest request) {
  try {
    return snapshot == nullptr ? begin_in_bash(context, record, std::move(request))
                               : begin_in_new_shell(context, record, std::move(request));
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

Result<CallResult> Session::Impl::run_in_shell(const contract::Context& context,
                                               BashRequest request) {
  const CallPtr record = BAWN_TRY(new_record("bash", false));
  BAWN_TRY(claim_step(context, record));
  const StopCallback on_cancel(context.stop_token(), stop_of(record, context));
  calls.add(record);
  const auto yield = request.yield;
  const std::size_t view_bytes = request.view_bytes;
  auto begun = begin_in_shell(context, record, std::move(request));
  if (begun && *begun != nullptr) {
    return drive(context, *begun, yield, view_bytes);
  }
  if (!begun && record->stop_cause() == StopCause::None) {
    calls.remove(record->id);
    release_step();
    return std::unexpected(begun.error());
  }
  if (!begun) {
    CallResult result = never_began();
    complete(result);
    release_step();
    record->finish(std::move(result));
  }
  return answer(record, {.view_bytes = view_bytes, .out_from = 0, .err_from = 0});
}

Result<> Session::Impl::claim_place(CallRecord& record) {
  const std::lock_guard lock(mutex_);
  if (closed_) {
    return contract::fail(ErrorCode::Closed, fmt::format("session {} is closed", config.name));
  }
  if (running_exec_ >= config.limits.running_exec) {
    return contract::fail(ErrorCode::Busy,
                          fmt::format("{} calls run beside the shell of session {}, which is the "
                                      "limit; wait for one to end or stop one with bash_kill",
                                      running_exec_, config.name));
  }
  ++running_exec_;
  record.has_place = true;
  return {};
}

Result<> Session::Impl::begin_beside(const contract::Context& context, const CallPtr& record,
                                     Launch what, std::shared_ptr<ExecCall>& call) {
  try {
    call = std::make_shared<ExecCall>(*this, record, std::move(what), context);
    return call->begin();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

Result<CallResult> Session::Impl::launch(const contract::Context& context, const CallPtr& record,
                                         Launch what, std::optional<Milliseconds> yield,
                                         std::size_t view_bytes) {
  BAWN_TRY(claim_place(*record));
  const StopCallback on_cancel(context.stop_token(), stop_of(record, context));
  calls.add(record);
  std::shared_ptr<ExecCall> call;
  const auto began = begin_beside(context, record, std::move(what), call);
  if (!began) {
    calls.remove(record->id);
    call.reset();  // before the session may close
    release_exec(*record);
    return std::unexpected(began.error());
  }
  return drive(context, call, yield, view_bytes);
}

Result<CallResult> Session::Impl::run_aside(const contract::Context& context, BashRequest request) {
  const CallPtr record = BAWN_TRY(new_record("bash", true));
  std::optional<SyntaxFault> fault;
  if (request.check_syntax || request.check_only) {
    fault = BAWN_TRY(check_syntax(context, request.command));
  }
  if (fault || request.check_only) {
    CallResult result = fault ? faulty(*fault) : well_formed();
    complete(result);
    calls.add(record);
    record->finish(std::move(result));
    return answer(record, {});
  }
  Launch what;
  if (snapshot != nullptr) {
    what = BAWN_TRY(snapshot->launch(*this, request, false));
  } else {
    std::vector<std::string> notes;
    const std::string state = BAWN_TRY(current_state(context, notes));
    what = BAWN_TRY(aside_launch(*this, request, *record, state));
    what.notes.insert(what.notes.begin(), notes.begin(), notes.end());
  }
  return launch(context, record, std::move(what),
                request.background ? std::optional(Milliseconds(0)) : request.yield,
                request.view_bytes);
}

Result<CallResult> Session::Impl::exec(const contract::Context& context, ExecRequest request) {
  BAWN_TRY(check_request(request, config.limits.text_bytes));
  const CallPtr record = BAWN_TRY(new_record("exec", true));
  Launch what;
  what.argv = std::move(request.argv);
  what.environment = environment;
  if (request.terminal) {
    what.environment = merged_environment(std::move(what.environment), {{"TERM", "xterm"}});
  }
  what.environment = merged_environment(std::move(what.environment), request.environment);
  what.cwd = request.cwd.empty() ? config.workspace : absolute(request.cwd);
  what.input = std::move(request.input);
  what.input_open = request.input_open;
  what.terminal = request.terminal;
  what.read_only = request.read_only;
  what.limits = {.timeout = request.timeout,
                 .on_timeout = request.on_timeout,
                 .output_limit = request.output_limit};
  return launch(context, record, std::move(what), request.yield, request.view_bytes);
}

}  // namespace bawn::shell
