#include "log.hpp"

#include "bawn/mcp/diagnostics.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <string>
#include <utility>

namespace bawn::mcp {

Log::Log(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}

void Log::warn(std::string_view line) const {
  const std::scoped_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - window_ >= kWindow) {
    window_ = now;
    written_ = 0;
    if (left_out_ > 0) {
      write(fmt::format("{} similar lines left out", left_out_));
      left_out_ = 0;
    }
  }
  if (written_ >= kLines) {
    ++left_out_;
    return;
  }
  ++written_;
  write(line);
}

namespace {

void write_to_stderr(std::string_view name, std::string_view line) {
  std::string text = fmt::format("{}: {}", name, line);
  // A pipe that polls writable takes PIPE_BUF bytes without blocking (pipe(7)).
  text.resize(std::min<std::size_t>(text.size(), PIPE_BUF - 1));
  text += '\n';
  pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  }
}

}  // namespace

void Log::write(std::string_view line) const {
  sink_ ? sink_(line) : write_to_stderr("bawn mcp", line);
}

std::function<void(std::string_view)> bounded_log(std::string name) {
  const auto log = std::make_shared<const Log>(
      [name = std::move(name)](std::string_view line) { write_to_stderr(name, line); });
  return [log](std::string_view line) { log->warn(line); };
}

}  // namespace bawn::mcp
