/// \file
/// One file agent: its process and its stream. One request at a time.
#pragma once

#include "bawn/os/pidfd.hpp"
#include "file_answer.hpp"
#include "warden_link.hpp"

#include <functional>
#include <memory>
#include <span>
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

struct FileRequest {
  file_wire::Op op;
  std::string payload;
};

/// Sets attributes of the file that the agent has passed to the relay; false unless all could be.
using AttributesSetter = std::function<bool(const FileAttributes&)>;

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
  /// For one behind a relay, which ends the agent itself.
  FileChannel(os::UniqueFd socket, AttributesSetter setter)
      : socket_(std::move(socket)), setter_(std::move(setter)) {}
  ~FileChannel();
  FileChannel(const FileChannel&) = delete;
  FileChannel& operator=(const FileChannel&) = delete;

  /// Sends a request, with a copy of `fd` unless it is negative, and waits for its answer. After
  /// anything but Answered the channel is of no more use.
  [[nodiscard]] FileExchange exchange(file_wire::Op op, std::string_view payload, int fd,
                                      const contract::Context& context);
  /// Sends requests without waiting for the answers in between, which are appended to `replies` in
  /// order; `reply` of the result is not used. No descriptors.
  [[nodiscard]] FileExchange exchange(std::span<const FileRequest> requests,
                                      std::vector<FileReply>& replies,
                                      const contract::Context& context);
  /// Only behind a relay, after the answer to HandHeld.
  [[nodiscard]] bool set_attributes(const FileAttributes& attributes) const {
    return setter_ && setter_(attributes);
  }

 private:
  [[nodiscard]] bool send(file_wire::Op op, std::string_view payload, int fd);
  /// As much as goes now; false when the agent is gone.
  [[nodiscard]] bool send_some(std::string_view bytes, std::size_t& sent) const;
  [[nodiscard]] FileExchange receive(const contract::Context& context);
  /// Takes in what is there; false at the end of the stream.
  [[nodiscard]] bool receive_some();
  /// Answered or Malformed once a whole frame is there; `last`: nothing may follow it.
  [[nodiscard]] std::optional<FileExchange> take_frame(std::uint32_t id, bool last);

  os::UniqueFd socket_;
  os::Pidfd agent_;
  AttributesSetter setter_;
  std::uint32_t last_id_ = 0;
  std::string buffer_;
  std::vector<os::UniqueFd> fds_;
};

}  // namespace bawn::sandbox
