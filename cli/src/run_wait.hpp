/// \file
/// Waiting for the one command of `bawn run`: its end, our signals, the timeout.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/warden.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace bawn::cli {

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT of this process, read from a descriptor instead of caught.
class RunSignals {
 public:
  /// Blocks them for the calling thread. Call before any other thread or child exists.
  static contract::Result<RunSignals> block();
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next pending signal's number; none when there is none.
  [[nodiscard]] std::optional<int> next() const;

 private:
  os::UniqueFd fd_;
};

/// Blocks until the command ended and returns the exit status for this process: the command's, 128
/// plus its signal, 126 or 127 when it could not start, 124 when the timeout ended it. `program` is
/// its name in the sentence about a failed start.
///
/// Each signal that arrives here goes to everything inside. On timeout: SIGTERM, two seconds later
/// SIGKILL.
[[nodiscard]] contract::Result<int> wait_for(sandbox::Child& child, sandbox::Warden& warden,
                                             const RunSignals& signals,
                                             std::optional<std::chrono::milliseconds> timeout,
                                             const std::string& program);

}  // namespace bawn::cli
