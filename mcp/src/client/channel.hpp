/// \file
/// What carries a client's requests to its server: pipes or HTTP.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "json_rpc.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::mcp {

/// A server's error.
struct RemoteError {
  int code = 0;  ///< 0 when the answer was no JSON-RPC
  std::string message{};
  Json data{};
  int http_status = 0;         ///< 0 over pipes
  bool session_ended = false;  ///< HTTP, older revisions: the server forgot the session
};

/// A server's answer: the result, or its error.
using RemoteAnswer = std::expected<Json, RemoteError>;

/// The answer in a message that is one.
[[nodiscard]] RemoteAnswer answer_in(const Json& message);

/// What happens beside the answer while a request waits. Both run on the waiting thread.
struct RequestHooks {
  std::function<void(const Json& params)> on_progress{};
  /// A legacy server's `elicitation/create`; its result.
  std::function<Json(const Json& params)> on_question{};
};

/// What a server says unasked, but for progress. On the thread that read it: must not block.
using OnNotification = std::function<void(const std::string& method, const Json& params)>;

/// Threads: thread-safe.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;

  struct Request {
    std::string method;
    /// JSON text of an object; its progress token, if any, is the request's `id`.
    std::function<std::string(const std::string& id)> params;
    std::optional<Clock::time_point> deadline{};
    RequestHooks hooks{};
    /// What HTTP repeats in `Mcp-Name` and `Mcp-Param-*`, as plain text.
    std::string name{};
    std::vector<std::pair<std::string, std::string>> parameters{};
  };

  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Sends it and waits. A given-up request is cancelled at the server and its answer dropped.
  ///
  /// Errors: Cancelled, DeadlineExceeded, Closed; over HTTP also PermissionDenied.
  [[nodiscard]] virtual contract::Result<RemoteAnswer> ask(const contract::Context& context,
                                                           const Request& request) = 0;
  [[nodiscard]] virtual contract::Result<> tell(std::string_view method, const Json& params) = 0;
  /// The revision that is spoken from now on; empty while none is agreed on.
  virtual void speak(const std::string& /*version*/) {}
  /// True where requests repeat arguments in headers.
  [[nodiscard]] virtual bool has_headers() const noexcept { return false; }
  /// A number that changes when requests get another authorization than those before.
  ///
  /// Errors: those of getting it. Blocking: where that asks an authorization server.
  [[nodiscard]] virtual contract::Result<std::uint64_t> authorization(
      const contract::Context& /*context*/) {
    return 0;
  }
  /// Takes what an older server says outside of requests, until that ends; `opened` runs once
  /// nothing more is missed.
  ///
  /// Errors: Unsupported where it needs no listening, or the server offers none.
  [[nodiscard]] virtual contract::Result<> listen(const contract::Context& /*context*/,
                                                  const std::function<void()>& /*opened*/) {
    return contract::fail(contract::ErrorCode::Unsupported, "messages come by themselves");
  }
  /// Every pending and later request ends with Closed.
  virtual void close() = 0;
};

inline constexpr const char* kClosed = "mcp: connection closed";

}  // namespace bawn::mcp
