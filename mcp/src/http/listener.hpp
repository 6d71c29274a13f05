/// \file
/// The socket that clients of HTTP connect to: an address or a path.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/mcp/http.hpp"
#include "local_socket.hpp"
#include "unique_fd.hpp"

#include <cstdint>
#include <optional>

namespace bawn::mcp {

/// Listens for as long as it lives. Close-on-exec and non-blocking, as what it accepts.
class Listener {
 public:
  /// Errors: those of serve_http().
  [[nodiscard]] static contract::Result<Listener> open(const HttpOptions& options);

  [[nodiscard]] int fd() const noexcept { return local_ ? local_->fd() : fd_.get(); }
  [[nodiscard]] int family() const noexcept { return family_; }
  /// What was bound; 0 for a path.
  [[nodiscard]] std::uint16_t port() const;
  /// The next connection; none and errno otherwise.
  [[nodiscard]] UniqueFd accept() const;

 private:
  Listener(UniqueFd fd, int family) : fd_(std::move(fd)), family_(family) {}
  explicit Listener(LocalSocket local);

  std::optional<LocalSocket> local_;
  UniqueFd fd_;
  int family_;
};

}  // namespace bawn::mcp
