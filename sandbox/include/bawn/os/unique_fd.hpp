/// \file
/// Ownership of one file descriptor.
#pragma once

#include <utility>

namespace bawn::os {

/// Owns at most one descriptor and closes it at the end. Never converts to int by itself, so that
/// a descriptor cannot be taken for a truth value or a number.
///
/// Threads: not thread-safe.
class [[nodiscard]] UniqueFd {
 public:
  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  /// Closes what is held and holds `fd` instead. close(2)'s error is of no use here: on Linux the
  /// descriptor is gone even after EINTR.
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

}  // namespace bawn::os
