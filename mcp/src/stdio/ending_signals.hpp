/// \file
/// What ends serving from outside, as something to wait for: signals, or another thread's word.
#pragma once

#include "bawn/contract/error.hpp"
#include "unique_fd.hpp"

#include <signal.h>

namespace bawn::mcp {

/// The first begins the end, and a further one cuts its grace short.
class EndingWord {
 public:
  EndingWord() = default;
  EndingWord(const EndingWord&) = delete;
  EndingWord& operator=(const EndingWord&) = delete;
  virtual ~EndingWord() = default;

  /// Readable once it came; -1 where none can.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Takes the one that came.
  virtual void clear() const = 0;

 protected:
  UniqueFd fd_;  // NOLINT: set by those that make it
};

/// TERM, INT and HUP, which it blocks for this thread and those it starts, for as long as it lives.
class EndingSignals final : public EndingWord {
 public:
  ~EndingSignals() override;

  /// Also ignores SIGPIPE: a client that closed its end is an error of write(), not the end of the
  /// process.
  [[nodiscard]] contract::Result<> take();
  /// Of several that came at once only one counts.
  void clear() const override;

 private:
  sigset_t before_{};
  bool taken_ = false;
};

/// The word of another thread; each counts.
class ToldToEnd final : public EndingWord {
 public:
  [[nodiscard]] contract::Result<> prepare();
  void tell() const;
  void clear() const override;
};

}  // namespace bawn::mcp
