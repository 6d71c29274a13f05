/// \file
/// One file agent: its process and its stream. One request at a time.
#pragma once

#include "bawn/os/pidfd.hpp"
#include "file_answer.hpp"
#include "warden_link.hpp"

#include <memory>
#include <string_view>

namespace bawn::sandbox {

/// How an exchange ended.
struct FileExchange {
  enum class End {
    Answered,
    Unsent,     ///< the agent was gone before: nothing was asked
    Lost,       ///< it went while it worked
    Ended,      ///< the context ended: see `error`
    Malformed,  ///< it does not speak the protocol
  };
  End end = End::Answered;
  FileReply reply{};
  std::optional<Error> error{};
};

/// Destroying it ends the agent.
///
/// Threads: not thread-safe.
class FileChannel {
 public:
  /// Has the warden start an agent. Errors: as WardenLink::ask.
  static Result<std::unique_ptr<FileChannel>> start(WardenLink& link, std::string_view order);
  /// For an agent that is there already; `agent` may be empty.
  FileChannel(os::UniqueFd socket, os::Pidfd agent)
      : socket_(std::move(socket)), agent_(std::move(agent)) {}
  ~FileChannel();
  FileChannel(const FileChannel&) = delete;
  FileChannel& operator=(const FileChannel&) = delete;

  /// Sends a request, with a copy of `fd` unless it is negative, and waits for its answer. After
  /// anything but Answered the channel is of no more use.
  [[nodiscard]] FileExchange exchange(file_wire::Op op, std::string_view payload, int fd,
                                      const contract::Context& context);

 private:
  [[nodiscard]] bool send(file_wire::Op op, std::string_view payload, int fd);
  [[nodiscard]] FileExchange receive(const contract::Context& context);
  /// Takes in what is there; false at the end of the stream.
  [[nodiscard]] bool receive_some();
  /// Answered or Malformed once a whole frame is there.
  [[nodiscard]] std::optional<FileExchange> take_frame();

  os::UniqueFd socket_;
  os::Pidfd agent_;
  std::uint32_t last_id_ = 0;
  std::string buffer_;
  std::vector<os::UniqueFd> fds_;
};

}  // namespace bawn::sandbox
