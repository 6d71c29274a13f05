/// \file
/// What a session asked of the network and what became of it: the log of the egress proxy and of
/// the supervisor of connect(2). Each entry is evidence: it was written by the part that decided.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

struct NetworkPlan;

/// How a request came.
enum class EgressVia { HttpConnect, Http, Socks5, Connect, Bind };
[[nodiscard]] std::string_view to_string(EgressVia via) noexcept;

/// One decision.
struct EgressDecision {
  std::uint64_t number = 0;  ///< counts up from 1 in a session
  std::chrono::system_clock::time_point time;
  EgressVia via = EgressVia::HttpConnect;
  std::string host;  ///< as asked for, shortened and made printable
  std::uint16_t port = 0;
  std::string address;  ///< the one connected to or refused; empty when it did not come to that
  bool allowed = false;
  std::string rule;        ///< the entry of the policy that allowed it, else why not
  std::string failure;     ///< allowed, but it could not be reached: why
  std::uint64_t sent = 0;  ///< bytes from the session, so far
  std::uint64_t received = 0;

  /// "proxy" or "notification".
  [[nodiscard]] std::string_view evidence() const noexcept;
};
/// The wire form, members in the order of the struct.
[[nodiscard]] contract::Json to_json(const EgressDecision& decision);

/// The server's side of one session's network: a thread with the proxy and the supervisor.
///
/// Threads: thread-safe.
class Egress {
 public:
  struct Options {
    std::size_t connections = 256;              ///< at a time; more are answered 503
    std::chrono::milliseconds head{30'000};     ///< for a whole request
    std::chrono::milliseconds connect{20'000};  ///< for resolving and connecting
    std::chrono::milliseconds idle{600'000};    ///< a tunnel without a byte
    std::size_t log_entries = 1024;             ///< the oldest go first
    /// Name to addresses in their usual text form; empty = getaddrinfo(3). Called on threads of its
    /// own, at most 16 at a time; may block.
    std::function<contract::Result<std::vector<std::string>>(const std::string&)> resolve;
  };

  /// Starts the thread. `listener` is the proxy's listening TCP socket, where the plan has one.
  ///
  /// Errors: InvalidArgument (the plan's hosts cannot be read), ResourceExhausted.
  static contract::Result<std::shared_ptr<Egress>> start(const NetworkPlan& plan,
                                                         os::UniqueFd listener, Options options);

  virtual ~Egress() = default;  ///< ends all connections

  /// Serves one more seccomp listener (a child's) until all that it watches are gone.
  virtual void supervise(os::UniqueFd listener) = 0;
  /// The proxy's port; 0 when there is none.
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  /// What was decided after the decision of that number, oldest first.
  [[nodiscard]] virtual std::vector<EgressDecision> decisions(std::uint64_t after) const = 0;
  /// Number of the newest decision.
  [[nodiscard]] virtual std::uint64_t last_number() const = 0;
};

}  // namespace bawn::sandbox
