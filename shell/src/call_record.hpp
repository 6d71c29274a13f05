/// \file
/// One call while it runs and as long as its output stays readable.
#pragma once

#include "bawn/os/event_fd.hpp"
#include "bawn/shell/call_result.hpp"
#include "bawn/shell/session.hpp"
#include "output_buffer.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace bawn::shell {

/// Why a running call is to be stopped. The first request wins.
enum class StopCause : int { None, Cancelled, Timeout, OutputLimit, Closed };

enum class Stream { Out, Err };

/// Threads: thread-safe.
class CallRecord {
 public:
  CallRecord(std::string id, std::string kind, std::uint64_t number, const SessionLimits& limits,
             const std::string& spool_dir, os::EventFd wake);

  const std::string id;
  const std::string kind;      ///< "bash" or "exec"
  const std::uint64_t number;  ///< in its session, from 1

  void append(Stream stream, std::string_view bytes);
  /// The larger of both streams' sizes, bytes.
  [[nodiscard]] std::uint64_t largest_stream() const;

  /// Asks whoever drives the call to stop it; harmless when it is finished.
  void request_stop(StopCause cause) noexcept;
  [[nodiscard]] StopCause stop_cause() const noexcept { return cause_.load(); }
  /// Readable after a request to stop; borrowed.
  [[nodiscard]] int wake_fd() const noexcept { return wake_.get(); }

  /// Shown as "bash" in views: the file of the call's text.
  void set_script(std::string path);
  /// Ends the call: `result` without its views.
  void finish(CallResult result);
  /// Blocks until it is finished, or `context` ends, or `until` passes.
  [[nodiscard]] bool wait_finished(const contract::Context& context,
                                   std::optional<contract::Context::Clock::time_point> until);

  struct Part {
    std::size_t view_bytes = 0;
    std::optional<std::uint64_t> out_from;  ///< absent: behind what was last shown
    std::optional<std::uint64_t> err_from;
  };
  /// The result as it is now, with views of the output; remembers what was shown.
  [[nodiscard]] CallResult answer(const Part& part);
  /// The caller went away and never sees the answer.
  void mark_unanswered();
  [[nodiscard]] CallSummary summary() const;
  [[nodiscard]] bool finished() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  OutputBuffer out_;
  OutputBuffer err_;
  CallResult result_;
  std::string script_;
  std::uint64_t shown_out_ = 0;
  std::uint64_t shown_err_ = 0;
  bool answered_ = true;
  std::chrono::steady_clock::time_point started_;
  std::atomic<StopCause> cause_{StopCause::None};
  os::EventFd wake_;
};

using CallPtr = std::shared_ptr<CallRecord>;

}  // namespace bawn::shell
