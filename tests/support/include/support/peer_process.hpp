/// \file
/// A program with pipes on its standard streams, and a line-based MCP client over it that costs two
/// system calls a request.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {

/// A started program. The destructor closes its input, waits up to 5 s, and kills it then.
class PeerProcess {
 public:
  /// argv[0] is an absolute path. Standard error goes to /dev/null. `added` are further variables
  /// of its environment, "NAME=value".
  static contract::Result<PeerProcess> start(const std::vector<std::string>& argv,
                                             const std::vector<std::string>& added = {});
  PeerProcess(PeerProcess&& other) noexcept;
  PeerProcess& operator=(PeerProcess&& other) = delete;
  ~PeerProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Writes all of `text`. Blocking while the pipe is full.
  contract::Result<> write(std::string_view text) const;
  /// The next line without its newline, valid until the next call. Blocking up to 30 s.
  contract::Result<std::string_view> read_line();

 private:
  PeerProcess() = default;
  pid_t pid_ = -1;
  os::UniqueFd input_;
  os::UniqueFd output_;
  std::string buffer_;
  std::size_t taken_ = 0;
};

/// One legacy MCP connection (2025-11-25).
class McpPeer {
 public:
  /// Starts the server and waits for the answer of `initialize`.
  static contract::Result<McpPeer> connect(const std::vector<std::string>& argv,
                                           const std::vector<std::string>& added = {});
  /// Sends a request and returns its answer's line; an answer with "error" is an error here.
  contract::Result<std::string_view> request(std::string_view method, std::string_view params);
  /// The same for tools/call, with the arguments as JSON text.
  contract::Result<std::string_view> call_tool(std::string_view name, std::string_view arguments);
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  /// For lines that are no proper requests.
  [[nodiscard]] PeerProcess& process() { return process_; }

 private:
  explicit McpPeer(PeerProcess process) : process_(std::move(process)) {}
  PeerProcess process_;
  int last_id_ = 0;
};

}  // namespace bawn::test
