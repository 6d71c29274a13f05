/// \file
/// The report FIFO of a session with the parser behind it.
#pragma once

#include "bawn/os/unique_fd.hpp"
#include "report.hpp"

#include <optional>
#include <string_view>

namespace bawn::shell {

/// Threads: one at a time; the session's single step slot sees to it.
class ReportChannel {
 public:
  explicit ReportChannel(os::UniqueFd fifo) : fifo_(std::move(fifo)) {}

  [[nodiscard]] int fd() const noexcept { return fifo_.get(); }
  /// Takes in what is there, without blocking, and looks for the report of `nonce`.
  [[nodiscard]] std::optional<StepReport> take(std::string_view nonce);
  /// Blocks until that report comes, `other` (a descriptor, or -1) becomes readable, or
  /// `timeout_ms` passes.
  [[nodiscard]] std::optional<StepReport> wait(std::string_view nonce, int other, int timeout_ms);

 private:
  os::UniqueFd fifo_;
  ReportParser parser_;
};

}  // namespace bawn::shell
