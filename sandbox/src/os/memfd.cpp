#include "bawn/os/memfd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::os {

contract::Result<UniqueFd> memfd(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) {
    return std::unexpected(
        contract::Error::from_errno(errno, "memfd_create", "cannot make a memory file"));
  }
  return fd;
}

contract::Result<> seal(const UniqueFd& memfd) {
  if (::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) !=
      0) {
    return std::unexpected(
        contract::Error::from_errno(errno, "fcntl", "cannot seal a memory file"));
  }
  return {};
}

contract::Result<UniqueFd> sealed_memfd(const char* name, std::string_view bytes) {
  UniqueFd fd = BAWN_TRY(memfd(name));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pwrite(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno != EINTR) {
      return std::unexpected(
          contract::Error::from_errno(errno, "pwrite", "cannot fill a memory file"));
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  BAWN_TRY(seal(fd));
  return fd;
}

}  // namespace bawn::os
