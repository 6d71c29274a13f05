/// \file
/// A unix socket at which only this user's programs and root's are served.
#pragma once

#include "bawn/contract/error.hpp"
#include "unique_fd.hpp"

#include <cstdint>
#include <string>

namespace bawn::mcp {

/// Listens for as long as it lives, at a path of mode 0600. Close-on-exec and non-blocking.
class LocalSocket {
 public:
  /// What a dead server left there is replaced. Of several that begin at once, one listens.
  ///
  /// Errors: InvalidArgument for a path that is too long for a socket; a system call's error,
  /// EADDRINUSE where somebody listens or another file is,
  /// EWOULDBLOCK where another program has held the directory by flock(2) for two seconds.
  [[nodiscard]] static contract::Result<LocalSocket> listen(const std::string& path);

  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&&) = delete;
  /// Takes the path away again, when it is still the one that was made.
  ~LocalSocket();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next connection, close-on-exec and non-blocking; none and errno otherwise. One of another
  /// user is closed, and errno is EACCES.
  [[nodiscard]] UniqueFd accept() const;

 private:
  LocalSocket(UniqueFd fd, std::string path, std::uint64_t inode)
      : fd_(std::move(fd)), path_(std::move(path)), inode_(inode) {}

  UniqueFd fd_;
  std::string path_;
  std::uint64_t inode_;
};

}  // namespace bawn::mcp
