#include "small_file.hpp"

#include "bawn/os/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace bawn::sandbox {

std::string read_small_file(const char* path) {
  const os::UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
  std::string text;
  if (!file.is_open()) {
    return text;
  }
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace bawn::sandbox
