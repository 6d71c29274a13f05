/// \file
/// Diagnostics that can never hold the server up: a host may close the log's pipe or stop reading
/// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>

namespace bawn::mcp {

/// Writes plain lines to descriptor 2, or to the host's function.
///
/// At most kLines lines in kWindow, so that hostile input cannot fill a host's log; the number left
/// out is said once there is room. A line is dropped when the descriptor would block.
///
/// Threads: thread-safe.
class Log {
 public:
  explicit Log(std::function<void(std::string_view)> sink = {});

  void warn(std::string_view line) const;

 private:
  static constexpr std::size_t kLines = 20;
  static constexpr std::chrono::seconds kWindow{10};
  void write(std::string_view line) const;

  std::function<void(std::string_view)> sink_;
  mutable std::mutex mutex_;
  mutable std::chrono::steady_clock::time_point window_{};
  mutable std::size_t written_ = 0;
  mutable std::size_t left_out_ = 0;
};

}  // namespace bawn::mcp
