#include "report_channel.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace bawn::shell {

namespace {

/// More than a pipe holds at its first size: a command that writes junk without a pause must not
/// keep the reader here.
constexpr int kMostReads = 16;

}  // namespace

std::optional<StepReport> ReportChannel::take(std::string_view nonce) {
  std::array<char, 8192> bytes;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = read(fifo_.get(), bytes.data(), bytes.size());
    if (got <= 0) {
      break;
    }
    parser_.append({bytes.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < bytes.size()) {
      break;
    }
  }
  return parser_.take(nonce);
}

std::optional<StepReport> ReportChannel::wait(std::string_view nonce, int other, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    if (auto report = take(nonce)) {
      return report;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      return std::nullopt;
    }
    std::array<pollfd, 2> waiting{{{fifo_.get(), POLLIN, 0}, {other, POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), static_cast<int>(left));
    if (waiting[1].revents != 0) {
      return take(nonce);
    }
  }
}

}  // namespace bawn::shell
