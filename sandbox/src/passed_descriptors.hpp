/// \file
/// Descriptors that travel with a message of a unix socket (SCM_RIGHTS, unix(7)).
#pragma once

#include "bawn/os/unique_fd.hpp"
#include "wire.hpp"

#include <sys/socket.h>

#include <array>
#include <span>
#include <vector>

namespace bawn::sandbox {

/// Room for the descriptors of one message; must outlive the call that sends or receives it.
class PassedDescriptors {
 public:
  /// Sends `fds`, at most wire::kMaxFds, with the message's first byte. None leaves it as it is.
  void attach(msghdr& message, std::span<const int> fds);
  /// Lets recvmsg(2) put what comes here; give it MSG_CMSG_CLOEXEC.
  void make_room(msghdr& message);
  /// Owns what came with a received message.
  [[nodiscard]] static std::vector<os::UniqueFd> take(msghdr& message);

 private:
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxFds)> bytes_{};
};

}  // namespace bawn::sandbox
