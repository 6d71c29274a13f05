#include "stopper.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {

using std::chrono::milliseconds;

// How long the shell may be without a child before the call is taken for a loop of builtins. Longer
// than the moment between two children of a loop, far shorter than a person notices.
constexpr milliseconds kLook{4};
// After so many looks at short-lived children the shell gets the signal too.
constexpr int kLooksAtChildren = 5;
// After so many looks at a shell that was asked for its report it is asked again.
constexpr int kLooksForReport = 25;
// Or after so many at which it slept: a signal that came late has cut its answer off.
constexpr int kLooksAtPrompt = 2;
// Once the foreground is gone, what ignores INT gets TERM at once.
constexpr milliseconds kLeftover{10};

}  // namespace

Stopper::Stopper(sandbox::Warden& warden, CallScope scope, milliseconds grace, Pump& pump,
                 BashProcess* shell, std::size_t queued, std::string nonce)
    : warden_(warden),
      scope_(std::move(scope)),
      grace_(grace),
      pump_(pump),
      shell_(shell),
      queued_(queued),
      nonce_(std::move(nonce)) {
  pump_.ignore_wake();
}

void Stopper::note(const Pump::Events& events) noexcept {
  result_.reported = result_.reported || events.reported;
  result_.exited = result_.exited || events.exited;
}

void Stopper::send(int signal, const char* step) {
  const auto reached = signal_call(warden_, scope_, signal);
  if (reached && *reached > 0) {
    result_.step = step;
  }
}

void Stopper::ask_for_report() {
  // The signal may have come before the step had taken its nonce in, or have cut off a text that
  // took PROMPT_COMMAND away: then nobody reports. This makes the shell do it at its prompt.
  const std::string line = fmt::format("__bt {};__bd", nonce_);
  const std::size_t before = shell_->unread();
  if (shell_->write_line(line)) {
    queued_ = before + line.size() + 1;
    asked_ = true;
    looks_since_asked_ = 0;
    looks_at_prompt_ = 0;
  }
}

bool Stopper::is_report_lost(const std::vector<sandbox::ProcessInfo>& processes) noexcept {
  const bool at_prompt = processes.empty() && shell_state_ == 'S';
  looks_at_prompt_ = at_prompt ? looks_at_prompt_ + 1 : 0;
  return looks_at_prompt_ >= kLooksAtPrompt || ++looks_since_asked_ >= kLooksForReport;
}

void Stopper::interrupt_shell() {
  // A line that the shell has read only in part would have its rest executed as a command (tried:
  // status 127), so the signal waits until the line is taken in whole.
  const std::size_t unread = shell_->unread();
  if (unread != 0 && unread != queued_) {
    return;
  }
  const auto reached = signal_process(warden_, scope_.shell_inside_pid, SIGINT);
  if (reached && *reached > 0) {
    result_.step = "INT";
    result_.shell_signalled = true;
  }
}

void Stopper::look_at_shell(const std::vector<sandbox::ProcessInfo>& processes) {
  note(pump_.wait(Clock::now() + kLook));
  if (call_ended()) {
    return;
  }
  const std::size_t unread = shell_->unread();
  if (unread != 0 && unread != queued_) {
    return;  // it has not begun yet, or it is about to report
  }
  if (asked_ && unread == 0) {
    // It took that line, so it reports now: another signal would only cut that off.
    if (is_report_lost(processes)) {
      ask_for_report();
    }
    return;
  }
  ++looks_;
  if (result_.shell_signalled && processes.empty() && !asked_) {
    ask_for_report();
  } else if (processes.empty() || looks_ >= kLooksAtChildren) {
    interrupt_shell();
  }
  if (!processes.empty()) {
    send(SIGINT, "INT");
  }
}

void Stopper::terminate_latecomers(const std::vector<sandbox::ProcessInfo>& processes) {
  for (const sandbox::ProcessInfo& process : processes) {
    if (std::none_of(known_.begin(), known_.end(), [&](const sandbox::ProcessInfo& known) {
          return known.inside_pid == process.inside_pid && known.start_time == process.start_time;
        })) {
      const auto reached = signal_process(warden_, process.inside_pid, SIGTERM);
      result_.step = reached && *reached > 0 ? "TERM" : result_.step;
    }
  }
}

void Stopper::wait_for_change(const std::vector<sandbox::ProcessInfo>& processes,
                              Clock::time_point until) {
  const std::vector<os::UniqueFd> held = warden_.watch(processes);
  std::vector<int> ends;
  for (const os::UniqueFd& one : held) {
    ends.push_back(one.get());
  }
  note(pump_.wait(until, ends));
}

bool Stopper::settle(Clock::time_point end, bool first_step) {
  std::optional<Clock::time_point> leftover_end;
  for (;;) {
    const auto processes = call_processes(warden_, scope_, &shell_state_);
    if (!processes) {
      return true;  // the warden is gone, and everything with it
    }
    if (terminating_) {
      terminate_latecomers(*processes);
    }
    known_ = *processes;
    if (call_ended() && processes->empty()) {
      return true;
    }
    const auto now = Clock::now();
    if (call_ended() && first_step) {
      leftover_end = leftover_end.value_or(std::min(end, now + kLeftover));
    }
    if (now >= leftover_end.value_or(end)) {
      return false;
    }
    if (std::any_of(processes->begin(), processes->end(),
                    [](const auto& process) { return process.state == 'T'; })) {
      // A stopped process takes no signal but KILL until it goes on.
      std::ignore = signal_call(warden_, scope_, SIGCONT);
    }
    // A shell that was signalled, has no child any more and left no line unread is at its prompt.
    const bool at_prompt = result_.shell_signalled && processes->empty() &&
                           (!asked_ || (shell_ != nullptr && shell_->unread() == 0));
    const bool worth_a_look = looks_ <= kLooksAtChildren || at_prompt;
    if (first_step && shell_ != nullptr && !call_ended() && worth_a_look) {
      look_at_shell(*processes);
    } else {
      wait_for_change(*processes, leftover_end.value_or(end));
    }
  }
}

void Stopper::kill_shell() {
  result_.killed_shell = true;
  result_.step = "shell_restart";
  std::ignore = signal_process(warden_, scope_.shell_inside_pid, SIGKILL);
  const auto end = Clock::now() + std::max(grace_, milliseconds(1000));
  while (!result_.exited && Clock::now() < end) {
    note(pump_.wait(end));
  }
}

StopResult Stopper::run() {
  send(SIGINT, "INT");
  bool settled = settle(Clock::now() + grace_, true);
  if (!settled) {
    send(SIGTERM, "TERM");
    terminating_ = true;
    settled = settle(Clock::now() + grace_, false);
    terminating_ = false;
  }
  // A process may fork while the list is walked, so KILL goes on until nothing is found.
  for (int round = 0; !settled && round < 8; ++round) {
    send(SIGKILL, "KILL");
    settled = settle(Clock::now() + std::min(grace_, milliseconds(250)), false);
  }
  if (!call_ended() && shell_ != nullptr) {
    kill_shell();
  }
  result_.queued = queued_;
  if (settled && call_ended()) {
    return result_;  // nothing was left at the last look
  }
  if (const auto left = call_processes(warden_, scope_)) {
    for (const auto& process : *left) {
      result_.survivors.push_back(to_survivor(process));
    }
  }
  return result_;
}

}  // namespace bawn::shell
