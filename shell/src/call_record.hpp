/// \file
/// One call while it runs and as long as its output stays readable.
#pragma once

#include "bawn/os/event_fd.hpp"
#include "bawn/shell/call_result.hpp"
#include "bawn/shell/session.hpp"
#include "input_feed.hpp"
#include "output_buffer.hpp"
#include "screen.hpp"
#include "stream_view.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace bawn::shell {

/// Why a running call is to be stopped. The first request wins.
enum class StopCause : int { None, Cancelled, Timeout, OutputLimit, Closed };

enum class Stream { Out, Err };

/// Threads: thread-safe.
class CallRecord {
 public:
  /// `aside`: its process is no child of the session's shell.
  CallRecord(std::string id, std::string kind, bool aside, std::uint64_t number,
             const SessionConfig& config, const std::string& spool_dir, os::EventFd wake);

  const std::string id;
  const std::string kind;      ///< "bash" or "exec"
  const std::uint64_t number;  ///< in its session, from 1
  bool has_place = false;      ///< among those that run beside the shell; for the session

  [[nodiscard]] bool is_aside() const noexcept { return aside_; }
  void append(Stream stream, std::string_view bytes);
  /// The larger of both streams' sizes, bytes.
  [[nodiscard]] std::uint64_t largest_stream() const;

  /// Bytes on both streams so far.
  [[nodiscard]] std::uint64_t printed() const;

  /// Asks whoever drives the call to stop it; harmless when it is finished.
  void request_stop(StopCause cause) noexcept;
  [[nodiscard]] StopCause stop_cause() const noexcept { return cause_.load(); }
  /// Readable after a request to stop; borrowed, until the call is finished.
  [[nodiscard]] int wake_fd() const noexcept { return wake_->get(); }

  void set_script(ScriptName script);
  /// Before the call starts: input that may be written while it runs.
  void set_input(std::shared_ptr<InputFeed> input) { input_ = std::move(input); }
  [[nodiscard]] InputFeed* input() const noexcept { return input_.get(); }
  /// Before the call starts: its output is a terminal's.
  void set_screen(TerminalSize size) { screen_.emplace(size); }
  /// Tells the terminal and its screen. Errors: InvalidArgument.
  [[nodiscard]] Result<> resize(TerminalSize size);
  /// What a reader of the running call must know.
  void add_note(std::string note);
  /// Ends the call: `result` without its views.
  void finish(CallResult result);
  /// Ends a call of which nothing more can be said, for want of memory.
  void abandon() noexcept;
  /// Blocks until it is finished or `enough` says so, or `context` ends, or `until` passes.
  /// `enough` is asked anew after each piece of output, with both streams.
  void wait(const contract::Context& context,
            std::optional<contract::Context::Clock::time_point> until,
            const std::function<bool(const OutputBuffer&, const OutputBuffer&)>& enough);

  /// For wait(): enough is anything behind what was shown last (`follow`), or output there that
  /// `awaited` takes; null when neither is wanted.
  [[nodiscard]] std::function<bool(const OutputBuffer&, const OutputBuffer&)> enough(
      bool follow, const std::optional<LineFilter>& awaited) const;

  struct Part {
    std::size_t view_bytes = 0;
    std::optional<std::uint64_t> out_from;  ///< absent: behind what was last shown
    std::optional<std::uint64_t> err_from;
    std::optional<std::uint64_t> out_line{};  ///< from this line on, counted from 1
    std::optional<std::uint64_t> err_line{};
    const LineFilter* filter = nullptr;  ///< show only lines that it takes
    bool raw = false;                    ///< base64 of the bytes as they are
  };
  /// The result as it is now, with views of the output; remembers what was shown.
  [[nodiscard]] CallResult answer(const Part& part);
  /// The caller went away and never sees the answer.
  void mark_unanswered();
  [[nodiscard]] CallSummary summary() const;
  [[nodiscard]] bool finished() const;

 private:
  [[nodiscard]] std::uint64_t begin_of(const OutputBuffer& buffer,
                                       std::optional<std::uint64_t> from,
                                       std::optional<std::uint64_t> line,
                                       std::uint64_t shown) const;
  void note_segment(Stream stream, std::size_t bytes);

  const bool aside_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t watchers_ = 0;  ///< threads that want to hear of each piece of output
  std::shared_ptr<InputFeed> input_;
  std::optional<Screen> screen_;
  OutputBuffer out_;
  OutputBuffer err_;
  CallResult result_;
  ScriptName script_;
  std::uint64_t shown_out_ = 0;
  std::uint64_t shown_err_ = 0;
  bool answered_ = true;
  std::chrono::steady_clock::time_point started_;
  std::atomic<StopCause> cause_{StopCause::None};
  std::mutex wake_mutex_;  // its own: a canceller must not wait for output to be stored
  std::optional<os::EventFd> wake_;
};

using CallPtr = std::shared_ptr<CallRecord>;

}  // namespace bawn::shell
