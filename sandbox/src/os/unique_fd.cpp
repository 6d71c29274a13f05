#include "bawn/os/unique_fd.hpp"

#include <unistd.h>

namespace bawn::os {

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) {
    (void)::close(fd_);
  }
  fd_ = fd;
}

}  // namespace bawn::os
