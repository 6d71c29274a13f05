/// \file
/// Connects on behalf of the session's processes: connect(2) of a child waits here, the address it
/// gave is copied once and judged, and the connection is made on a duplicate of its socket. Nothing
/// is looked at twice, so there is nothing to change in between.
#pragma once

#include "loop.hpp"
#include "notification.hpp"

#include <cstdint>
#include <memory>
#include <set>

namespace bawn::sandbox::net {

class Supervisor : public std::enable_shared_from_this<Supervisor> {
 public:
  struct Rules {
    /// No network namespace, and not the full network: TCP to the session's own listeners, to the
    /// proxy, and to addresses that the policy names; servers on loopback only.
    bool loopback_only = false;
    std::uint16_t proxy_port = 0;
  };

  Supervisor(Loop& loop, Rules rules) : loop_(loop), rules_(rules) {}

  /// For the network thread: serves a listener until all that it watches are gone.
  void add(os::UniqueFd listener);

 private:
  asio::awaitable<void> serve(os::UniqueFd listener);
  void handle(const Notification& notification);
  void on_connect(const Notification& notification, os::UniqueFd socket);
  void on_bind(const Notification& notification, const os::UniqueFd& socket);
  void on_listen(const Notification& notification, const os::UniqueFd& socket);

  struct Judgement {
    bool allowed = false;
    int errnum = 0;  ///< when not
    bool to_proxy = false;
  };
  [[nodiscard]] Judgement judge(const Address& address, std::uint16_t port);
  [[nodiscard]] Judgement judge_loopback(const Address& address, std::uint16_t port);
  void refuse(EgressVia via, const Address& address, std::uint16_t port, std::string rule);
  void connect(const Notification& notification, os::UniqueFd socket, const SocketAddress& address,
               bool to_proxy);
  asio::awaitable<void> finish(Notification notification, os::UniqueFd socket, int flags);

  Loop& loop_;
  Rules rules_;
  std::set<std::uint64_t> listening_;  ///< inodes of the session's listening sockets
};

}  // namespace bawn::sandbox::net
