/// \file
/// A server over HTTP as a child, and the cheapest client: kept connections, requests made once.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bawn::bench {

/// The destructor kills it.
class HttpPeer {
 public:
  /// argv[0] is an absolute path. Waits until it names its address on standard error, as
  /// "http://127.0.0.1:PORT". `added` are further variables of its environment.
  static contract::Result<HttpPeer> start(const std::vector<std::string>& argv,
                                          const std::vector<std::string>& added = {});
  HttpPeer(HttpPeer&& other) noexcept;
  HttpPeer& operator=(HttpPeer&&) = delete;
  ~HttpPeer();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// One request on each of `connections` connections, all at once; until all are answered with
  /// 200.
  contract::Result<> call_on(std::size_t connections);
  /// One request that needs no tool.
  contract::Result<> ping();

 private:
  HttpPeer(pid_t pid, os::UniqueFd errors) : pid_(pid), errors_(std::move(errors)) {}
  contract::Result<> find_port();
  contract::Result<> connect_one();
  contract::Result<> send_on(std::size_t connections, const std::string& request);
  contract::Result<> read_reply(int fd);

  pid_t pid_;
  os::UniqueFd errors_;
  std::uint16_t port_ = 0;
  std::vector<os::UniqueFd> connections_;
};

}  // namespace bawn::bench
