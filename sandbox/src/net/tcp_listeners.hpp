/// \file
/// Who listens on this machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bawn::sandbox::net {

/// Inodes of all TCP sockets that listen on `port` at any address, of this network namespace.
/// Source: /proc/net/tcp and tcp6 (proc(5)).
[[nodiscard]] std::vector<std::uint64_t> tcp_listeners(std::uint16_t port);

/// Appends those in one of these files' text.
void read_tcp_listeners(std::string_view text, std::uint16_t port,
                        std::vector<std::uint64_t>& inodes);

}  // namespace bawn::sandbox::net
