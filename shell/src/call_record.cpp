#include "call_record.hpp"

#include "stream_view.hpp"

#include <algorithm>
#include <utility>

namespace bawn::shell {

CallRecord::CallRecord(std::string call_id, std::string call_kind, std::uint64_t call_number,
                       const SessionLimits& limits, const std::string& spool_dir, os::EventFd wake)
    : id(std::move(call_id)),
      kind(std::move(call_kind)),
      number(call_number),
      out_(limits.memory_per_stream, limits.disk_per_stream, spool_dir),
      err_(limits.memory_per_stream, limits.disk_per_stream, spool_dir),
      started_(std::chrono::steady_clock::now()),
      wake_(std::move(wake)) {
  result_.call = id;
  result_.state = CallState::Running;
}

void CallRecord::append(Stream stream, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  (stream == Stream::Out ? out_ : err_).append(bytes);
}

std::uint64_t CallRecord::largest_stream() const {
  const std::lock_guard lock(mutex_);
  return std::max(out_.bytes(), err_.bytes());
}

void CallRecord::request_stop(StopCause cause) noexcept {
  StopCause none = StopCause::None;
  if (cause_.compare_exchange_strong(none, cause)) {
    wake_.signal();
  }
}

void CallRecord::set_script(std::string path) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(path);
}

void CallRecord::finish(CallResult result) {
  {
    const std::lock_guard lock(mutex_);
    result.call = id;
    result.state = CallState::Finished;
    result.duration = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - started_);
    result_ = std::move(result);
  }
  changed_.notify_all();
}

bool CallRecord::wait_finished(const contract::Context& context,
                               std::optional<contract::Context::Clock::time_point> until) {
  std::unique_lock lock(mutex_);
  const auto finished = [&] { return result_.state == CallState::Finished; };
  const auto deadline = context.deadline();
  if (deadline && (!until || *deadline < *until)) {
    until = deadline;
  }
  if (until) {
    return changed_.wait_until(lock, context.stop_token(), *until, finished);
  }
  return changed_.wait(lock, context.stop_token(), finished);
}

CallResult CallRecord::answer(const Part& part) {
  const std::lock_guard lock(mutex_);
  CallResult result = result_;
  const bool running = result.state == CallState::Running;
  if (running) {
    result.duration = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - started_);
  }
  ViewOptions out{
      .from = part.out_from.value_or(shown_out_), .open_end = running, .script = script_};
  ViewOptions err{
      .from = part.err_from.value_or(shown_err_), .open_end = running, .script = script_};
  // Errors come in full up to half of the room; the rest is for the output.
  const std::uint64_t err_size = err_.bytes() - std::min(err.from, err_.bytes());
  const std::uint64_t out_size = out_.bytes() - std::min(out.from, out_.bytes());
  const std::uint64_t room = part.view_bytes;
  err.max_bytes = static_cast<std::size_t>(
      std::max(std::min(err_size, room / 2), room - std::min(out_size, room)));
  out.max_bytes = static_cast<std::size_t>(room - std::min<std::uint64_t>(err_size, err.max_bytes));
  result.out = make_view(out_, out);
  result.err = make_view(err_, err);
  shown_out_ = result.out.next;
  shown_err_ = result.err.next;
  answered_ = answered_ || !running;
  return result;
}

void CallRecord::mark_unanswered() {
  const std::lock_guard lock(mutex_);
  answered_ = false;
  shown_out_ = 0;
  shown_err_ = 0;
}

CallSummary CallRecord::summary() const {
  const std::lock_guard lock(mutex_);
  return {.call = id,
          .kind = kind,
          .state = result_.state,
          .reason = result_.reason,
          .exit_code = result_.exit_code,
          .out_bytes = out_.bytes(),
          .err_bytes = err_.bytes(),
          .answered = answered_};
}

bool CallRecord::finished() const {
  const std::lock_guard lock(mutex_);
  return result_.state == CallState::Finished;
}

}  // namespace bawn::shell
