#include "passed_descriptors.hpp"

#include <cstring>

namespace bawn::sandbox {

void PassedDescriptors::attach(msghdr& message, std::span<const int> fds) {
  if (fds.empty()) {
    return;
  }
  message.msg_control = bytes_.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
}

void PassedDescriptors::make_room(msghdr& message) {
  message.msg_control = bytes_.data();
  message.msg_controllen = bytes_.size();
}

std::vector<os::UniqueFd> PassedDescriptors::take(msghdr& message) {
  std::vector<os::UniqueFd> fds;
  for (cmsghdr* found = CMSG_FIRSTHDR(&message); found != nullptr;
       found = CMSG_NXTHDR(&message, found)) {
    if (found->cmsg_level != SOL_SOCKET || found->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= found->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(found) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace bawn::sandbox
