/// \file
/// A descriptor that is closed once. This library sees no other layer's, so it has its own.
#pragma once

#include <unistd.h>

#include <utility>

namespace bawn::mcp {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  ~UniqueFd() { reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  void reset() noexcept {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int fd_ = -1;
};

}  // namespace bawn::mcp
