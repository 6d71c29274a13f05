/// \file
/// The streamable HTTP transport, for clients of both eras at one endpoint.
/// Source: MCP 2026-07-28 and 2025-11-25, transports.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::mcp {

/// One bearer token and whose it is.
struct BearerToken {
  std::string token{};
  std::string account{};  ///< goes to the tools as contract::Caller::account
  bool operator==(const BearerToken&) const = default;
};

/// Reads a file of tokens: one a line, optionally followed by blanks and a name; `#` begins a
/// comment. A token without a name has the account `token-<line number>`.
///
/// Errors: PermissionDenied when others than the owner can read or write the file (a group may read
/// root's: so clusters hand secrets to an ordinary user), or the owner is neither this user nor
/// root; InvalidArgument for a token under 16 characters or with characters that a header cannot
/// carry, and for a file without one; a system call's error.
[[nodiscard]] contract::Result<std::vector<BearerToken>> read_bearer_tokens(
    const std::string& path);

/// A file of tokens that is read again when it has changed. An account without a name stays its
/// token's, whatever line that moves to, and no other token ever gets it.
///
/// Threads: for one thread at a time.
class BearerTokenFile {
 public:
  /// Errors: as read_bearer_tokens().
  static contract::Result<BearerTokenFile> open(const std::string& path);

  [[nodiscard]] const std::vector<BearerToken>& tokens() const noexcept { return tokens_; }
  /// The tokens when the file has changed since the last look, else none. Blocking: one stat(2).
  ///
  /// Errors: those of open(), once for each change of the file; tokens() then stays as it was.
  [[nodiscard]] contract::Result<std::optional<std::vector<BearerToken>>> changed();

 private:
  explicit BearerTokenFile(std::string path) : path_(std::move(path)) {}
  contract::Result<> read();

  /// By what a changed file is noticed; as of stat(2), times in ns.
  struct Version {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t mtime = 0;
    std::int64_t ctime = 0;
    bool operator==(const Version&) const = default;
  };
  [[nodiscard]] Version look() const;
  /// `given` are the names that the file gives.
  [[nodiscard]] std::string account_of_unnamed(const std::string& token, std::size_t line,
                                               const std::set<std::string, std::less<>>& given);

  std::string path_;
  Version version_{};
  bool settled_ = false;     ///< a further change would have another time
  bool complained_ = false;  ///< that version could not be read, and that was said
  std::vector<BearerToken> tokens_;
  std::map<std::string, std::string, std::less<>> unnamed_;  ///< tokens and the accounts they got
};

/// A GET of this path is answered 200 to anybody while the server takes requests: for the probes of
/// container engines and clusters. It tells nothing else.
inline constexpr std::string_view kHealthPath = "/health";

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free one
  /// Listens at this path instead, a unix socket of mode 0600 for this user's programs and root's;
  /// `Host` then means nothing, and no `Origin` is allowed. A dead server's socket is replaced.
  std::string unix_path{};
  std::string path = "/mcp";
  /// Hosts beside localhost, 127.0.0.1 and [::1] that `Host` may name, without a port.
  std::vector<std::string> allowed_hosts{};
  /// Origins beside those of the allowed hosts, complete: `https://example.org`.
  std::vector<std::string> allowed_origins{};
  /// With none, everybody who reaches the port may call. Required when `address` is not a loopback
  /// address, unless `open_to_all` is set.
  std::vector<BearerToken> tokens{};
  /// Asked before each request, on the thread of the connections: the tokens from now on, none when
  /// they are the same. An error is logged and changes nothing. Sessions of accounts that are left
  /// without a token end.
  std::function<contract::Result<std::optional<std::vector<BearerToken>>>()> changed_tokens{};
  bool open_to_all = false;

  std::size_t max_body_bytes = 4U << 20U;
  std::size_t max_header_bytes = 64U << 10U;
  std::size_t max_connections = 1024;        ///< further ones wait to be accepted
  std::size_t max_stream_bytes = 1U << 20U;  ///< waiting on a stream; above, it is closed
  /// Of older clients. One more ends an idle one, of the account that has the most; 503 when all
  /// have requests in flight.
  std::size_t max_sessions = 256;
  /// From a request's first byte; of a new connection, from its beginning.
  std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds body_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds write_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(75);  ///< between requests
  std::chrono::milliseconds keep_alive = std::chrono::seconds(15);    ///< comments on streams
  std::chrono::milliseconds stream_after = std::chrono::seconds(5);  ///< then an answer is a stream
  std::chrono::milliseconds session_idle = std::chrono::minutes(30);
  std::chrono::milliseconds stop_grace{1500};   ///< for running calls when the server ends
  std::chrono::milliseconds cancel_grace{300};  ///< and for what they return after cancellation
  std::chrono::milliseconds flush_grace{3000};  ///< for clients to take what is queued for them

  /// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread and takes them as the end.
  bool handle_signals = true;
  /// The parent of every call's context.
  contract::Context context{};
  /// Called once, when requests are accepted, with the bound port; 0 for a path.
  std::function<void(std::uint16_t port)> on_ready{};
};

/// How serving ended.
struct HttpEnd {
  /// As StdioEnd::abandoned_calls: when there are any, leave by `std::_Exit`.
  std::size_t abandoned_calls = 0;
};

/// Serves until a signal comes or `options.context` is cancelled.
///
/// A modern request is on its own: its caller is the bearer token's account, there is no session on
/// its context, and closing the connection cancels it. A legacy client gets a session with
/// `initialize`, whose id is on the context of its calls; closing the connection cancels nothing.
/// Every request has a contract::Caller; without tokens its account is "anonymous".
///
/// Errors: InvalidArgument for an address that is none, or that is not a loopback one without
/// tokens, and for a path too long for a socket; a system call's error when it cannot be bound.
/// Blocking: until the end.
[[nodiscard]] contract::Result<HttpEnd> serve_http(const Server& server,
                                                   const HttpOptions& options);

}  // namespace bawn::mcp
