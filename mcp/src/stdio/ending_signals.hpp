/// \file
/// TERM, INT and HUP as something to wait for.
#pragma once

#include "bawn/contract/error.hpp"
#include "unique_fd.hpp"

#include <signal.h>

namespace bawn::mcp {

/// Blocks the ending signals for this thread and those it starts, for as long as it lives.
class EndingSignals {
 public:
  EndingSignals() = default;
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  ~EndingSignals();

  /// Also ignores SIGPIPE: a client that closed its end is an error of write(), not the end of the
  /// process.
  [[nodiscard]] contract::Result<> take();
  /// Readable once one came; -1 before take().
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  void clear() const;

 private:
  UniqueFd fd_;
  sigset_t before_{};
  bool taken_ = false;
};

}  // namespace bawn::mcp
