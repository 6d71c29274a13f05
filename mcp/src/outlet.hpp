/// \file
/// What the era-neutral part needs of a transport.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace bawn::mcp {

/// The statuses that JSON-RPC answers have over HTTP.
enum class HttpStatus { Ok = 200, BadRequest = 400, NotFound = 404 };

/// Where the messages about one request, or one client, go.
///
/// Threads: thread-safe; no function blocks.
class Outlet {
 public:
  using Clock = std::chrono::steady_clock;

  Outlet() = default;
  virtual ~Outlet() = default;
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  /// Sends a message that must arrive as long as the client lives.
  virtual void send(std::string line) = 0;
  /// Sends the answer to a request, after which nothing more is said about it. `status` is what
  /// HTTP says of it, where that is still possible.
  virtual void answer(std::string line, HttpStatus /*status*/) { send(std::move(line)); }
  /// Sends a message that a slow client may miss. A waiting one of the same key is replaced.
  virtual void send_droppable(std::string_view key, std::string line) = 0;
  /// The request of this outlet will get no answer.
  virtual void withdrawn() {}
  /// Asks for Peer::tick() at `time` or soon after.
  virtual void tick_by(Clock::time_point time) = 0;
};

}  // namespace bawn::mcp
