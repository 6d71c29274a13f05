// What is done for a shell between calls: its state saved, a runaway ended, a new one begun.
#include "bawn/os/procfs.hpp"
#include "call_processes.hpp"
#include "driver_script.hpp"
#include "random_name.hpp"
#include "session_impl.hpp"
#include "snapshot_shell.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace bawn::shell {

namespace {
constexpr int kStateTimeoutMs = 5000;
}  // namespace

void Session::Impl::on_idle() {
  if (!claim_maintenance()) {
    return;
  }
  try {
    memory_kills.begin();
    if (!idle_cpu_) {
      save_state();
      checker->prepare();
      if (snapshot == nullptr) {
        steps.prepare();
      }
    }
    watch_idle_shell();
  } catch (const std::bad_alloc&) {
    keeper->arm(config.limits.snapshot_idle);  // nobody waits for this; another time will do
  }
  release_maintenance();
}

void Session::Impl::watch_idle_shell() {
  const Milliseconds period = config.limits.idle_watch;
  if (shell_ == nullptr || !shell_->running() || period.count() == 0 ||
      warden->relay() != nullptr) {
    return;  // behind a relay its number means nothing here
  }
  const auto used = os::cpu_ticks(shell_->child().pid());
  if (!used) {
    return;
  }
  const auto fifth = static_cast<std::uint64_t>(period.count() * sysconf(_SC_CLK_TCK) / 5000);
  if (idle_cpu_ && *used - *idle_cpu_ >= std::max<std::uint64_t>(fifth, 1)) {
    // A trap that never ends, say. The next call finds it gone and says what became of the state.
    std::ignore = signal_process(*warden, shell_->child().inside_pid(), SIGKILL);
    return;
  }
  idle_cpu_ = *used;
  keeper->arm(period);
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
  {
    const Maintenance ends(*this);
    save_state();
  }
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
  const Maintenance ends(*this);
  if (keep_state) {
    save_state();
  }
  if (shell_ != nullptr || snapshot != nullptr) {
    // Everything the shell started goes with it, background jobs of earlier calls included.
    end_shell_processes();
  }
  Result<Restored> restored = Restored::Full;
  if (snapshot == nullptr) {
    restored = replace_shell(keep_state);
  } else if (!keep_state) {
    snapshot->forget();
    restored = Restored::Nothing;
  }
  return restored;
}

}  // namespace bawn::shell
