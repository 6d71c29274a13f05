#include "call_record.hpp"

#include "stream_view.hpp"

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {
constexpr std::size_t kMostSegments = 256;
/// How much of the newest output is searched for a pattern that somebody waits for, bytes.
constexpr std::size_t kSearched = 64 * 1024;
}  // namespace

CallRecord::CallRecord(std::string call_id, std::string call_kind, bool aside,
                       std::uint64_t call_number, const SessionConfig& config,
                       const std::string& spool_dir, os::EventFd wake)
    : id(std::move(call_id)),
      kind(std::move(call_kind)),
      number(call_number),
      aside_(aside),
      out_(config.limits.memory_per_stream, config.limits.disk_per_stream, spool_dir, config.spool),
      err_(config.limits.memory_per_stream, config.limits.disk_per_stream, spool_dir, config.spool),
      started_(std::chrono::steady_clock::now()),
      wake_(std::move(wake)) {
  result_.call = id;
  result_.state = CallState::Running;
}

void CallRecord::append(Stream stream, std::string_view bytes) {
  bool tell = false;
  {
    const std::lock_guard lock(mutex_);
    (stream == Stream::Out ? out_ : err_).append(bytes);
    note_segment(stream, bytes.size());
    if (screen_) {
      screen_->feed(bytes);
    }
    tell = watchers_ != 0;
  }
  if (tell) {
    changed_.notify_all();
  }
}

void CallRecord::note_segment(Stream stream, std::size_t bytes) {
  std::vector<Segment>& all = result_.segments;
  const bool err = stream == Stream::Err;
  if (!all.empty() && all.back().err == err) {
    all.back().bytes += bytes;
  } else if (all.size() < kMostSegments) {
    all.push_back({.err = err, .bytes = bytes});
  } else {
    result_.segments_cut = true;
  }
}

Result<> CallRecord::resize(TerminalSize size) {
  if (input_ == nullptr) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "the call has no terminal whose size could change");
  }
  BAWN_TRY(input_->resize(size));
  const std::lock_guard lock(mutex_);
  if (screen_) {
    screen_->resize(size);
  }
  return {};
}

void CallRecord::add_note(std::string note) {
  const std::lock_guard lock(mutex_);
  result_.notes.push_back(std::move(note));
}

std::uint64_t CallRecord::largest_stream() const {
  const std::lock_guard lock(mutex_);
  return std::max(out_.bytes(), err_.bytes());
}

std::uint64_t CallRecord::printed() const {
  const std::lock_guard lock(mutex_);
  return out_.bytes() + err_.bytes();
}

void CallRecord::request_stop(StopCause cause) noexcept {
  StopCause none = StopCause::None;
  if (cause_.compare_exchange_strong(none, cause)) {
    const std::lock_guard lock(wake_mutex_);
    if (wake_) {
      wake_->signal();
    }
  }
}

void CallRecord::set_script(ScriptName script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void CallRecord::finish(CallResult result) {
  {
    const std::lock_guard lock(mutex_);
    result.call = id;
    result.state = CallState::Finished;
    result.segments = std::move(result_.segments);
    result.segments_cut = result_.segments_cut;
    result.notes.insert(result.notes.begin(), result_.notes.begin(), result_.notes.end());
    result.duration = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - started_);
    result_ = std::move(result);
  }
  changed_.notify_all();
  // A finished call is kept for its output, and costs no descriptor but that of a spooled one.
  if (input_ != nullptr) {
    input_->shut();
  }
  const std::lock_guard lock(wake_mutex_);
  wake_.reset();
}

void CallRecord::abandon() noexcept {
  {
    const std::lock_guard lock(mutex_);
    result_.state = CallState::Finished;
    result_.reason = Reason::ShellLost;
  }
  changed_.notify_all();
  const std::lock_guard lock(wake_mutex_);
  wake_.reset();
}

void CallRecord::wait(const contract::Context& context,
                      std::optional<contract::Context::Clock::time_point> until,
                      const std::function<bool(const OutputBuffer&, const OutputBuffer&)>& enough) {
  std::unique_lock lock(mutex_);
  const auto done = [&] {
    return result_.state == CallState::Finished || (enough && enough(out_, err_));
  };
  const auto deadline = context.deadline();
  if (deadline && (!until || *deadline < *until)) {
    until = deadline;
  }
  watchers_ += enough ? 1U : 0U;
  if (until) {
    changed_.wait_until(lock, context.stop_token(), *until, done);
  } else {
    changed_.wait(lock, context.stop_token(), done);
  }
  watchers_ -= enough ? 1U : 0U;
}

std::function<bool(const OutputBuffer&, const OutputBuffer&)> CallRecord::enough(
    bool follow, const std::optional<LineFilter>& awaited) const {
  if (!follow && !awaited) {
    return nullptr;
  }
  // Under the lock, as everything that wait() asks.
  return [this, follow, &awaited](const OutputBuffer& out, const OutputBuffer& err) {
    const auto is_new = [&](const OutputBuffer& buffer, std::uint64_t shown) {
      if (buffer.bytes() <= shown || !awaited) {
        return buffer.bytes() > shown && follow;
      }
      const std::uint64_t from =
          std::max(shown, buffer.bytes() - std::min<std::uint64_t>(kSearched, buffer.bytes()));
      return awaited->takes(buffer.read(from, kSearched));
    };
    return is_new(out, shown_out_) || is_new(err, shown_err_);
  };
}

std::uint64_t CallRecord::begin_of(const OutputBuffer& buffer, std::optional<std::uint64_t> from,
                                   std::optional<std::uint64_t> line, std::uint64_t shown) const {
  return line ? offset_of_line(buffer, *line) : from.value_or(shown);
}

CallResult CallRecord::answer(const Part& part) {
  const std::lock_guard lock(mutex_);
  CallResult result = result_;
  const bool running = result.state == CallState::Running;
  if (running) {
    result.duration = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - started_);
  }
  ViewOptions out{.from = begin_of(out_, part.out_from, part.out_line, shown_out_),
                  .open_end = running,
                  .script = script_,
                  .filter = part.filter,
                  .raw = part.raw};
  ViewOptions err{.from = begin_of(err_, part.err_from, part.err_line, shown_err_),
                  .open_end = running,
                  .script = script_,
                  .filter = part.filter,
                  .raw = part.raw};
  // Errors come in full up to half of the room; the rest is for the output.
  const std::uint64_t err_size = err_.bytes() - std::min(err.from, err_.bytes());
  const std::uint64_t out_size = out_.bytes() - std::min(out.from, out_.bytes());
  const std::uint64_t room = part.view_bytes;
  err.max_bytes = static_cast<std::size_t>(
      std::max(std::min(err_size, room / 2), room - std::min(out_size, room)));
  out.max_bytes = static_cast<std::size_t>(room - std::min<std::uint64_t>(err_size, err.max_bytes));
  result.out = make_view(out_, out);
  result.err = make_view(err_, err);
  if (screen_) {
    if (!part.raw) {
      fold_line_ends(result.out.text);
    }
    result.screen = screen_->text();
    result.screen_addressed = screen_->addressed();
  }
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
