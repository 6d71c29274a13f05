/// \file
/// One HTTP exchange over a Unix socket.
#pragma once

#include "bawn/container/engine.hpp"

#include <string>

namespace bawn::container {

struct HttpReply {
  unsigned int status = 0;
  std::string body;
};

/// Sends `method target` without a body and takes the whole answer, at most 16 MiB.
///
/// Errors: Closed (nobody listens, or the answer broke off), DeadlineExceeded. Blocking: to the
/// context's deadline; cancellation is not seen before.
[[nodiscard]] Result<HttpReply> http_exchange(const contract::Context& context,
                                              const std::string& socket, const std::string& method,
                                              const std::string& target);

/// Everything but letters, digits and "-_.~" as %XX.
[[nodiscard]] std::string percent_encode(std::string_view text);

}  // namespace bawn::container
