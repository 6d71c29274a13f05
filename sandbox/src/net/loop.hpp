/// \file
/// What the parts of one session's network thread share.
#pragma once

#include "bawn/sandbox/egress.hpp"
#include "decision_log.hpp"
#include "host_rules.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bawn::sandbox::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// No exception for an error: `auto [error, n] = co_await …(kAsValues)`.
inline constexpr auto kAsValues = asio::as_tuple(asio::use_awaitable);

/// Lives as long as the thread or a resolving thread needs it. All members but `log` and `io` are
/// for the network thread only.
struct Loop {
  Loop(HostRules host_rules, Egress::Options egress_options)
      : rules(std::move(host_rules)),
        options(std::move(egress_options)),
        log(options.log_entries) {}

  asio::io_context io{1};
  HostRules rules;
  Egress::Options options;
  DecisionLog log;
  std::size_t connections = 0;
  std::size_t resolving = 0;
  /// Without a network namespace anybody on the machine can reach the proxy's port: then only those
  /// connections are served that the supervisor made, by the port they come from.
  bool expected_only = false;
  std::set<std::uint16_t> expected;
};

/// Resolves a name on a thread of its own. Errors: NotFound, ResourceExhausted, DeadlineExceeded.
asio::awaitable<Result<std::vector<Address>>> resolve(std::shared_ptr<Loop> loop, std::string host);

[[nodiscard]] asio::ip::address to_asio(const Address& address);

/// Serves the proxy on a listening socket until the loop ends.
asio::awaitable<void> serve_proxy(std::shared_ptr<Loop> loop, tcp::acceptor acceptor);

}  // namespace bawn::sandbox::net
