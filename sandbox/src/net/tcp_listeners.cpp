#include "tcp_listeners.hpp"

#include "bawn/os/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace bawn::sandbox::net {
namespace {

std::string read_whole(const char* path) {
  const os::UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> part{};
  for (ssize_t count = 1; count > 0;) {
    count = ::read(fd.get(), part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return text;
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

/// "  0: 0100007F:1F90 00000000:0000 0A … uid timeout inode …"
void read_line(std::string_view line, std::uint16_t port, std::vector<std::uint64_t>& inodes) {
  constexpr std::string_view kListen = "0A";
  std::array<std::string_view, 10> words;
  for (std::string_view& word : words) {
    word = next_word(line);
  }
  const std::size_t colon = words[1].rfind(':');
  unsigned number = 0;
  std::uint64_t inode = 0;
  if (colon == std::string_view::npos || words[3] != kListen) {
    return;
  }
  const char* const end = words[1].data() + words[1].size();
  if (std::from_chars(words[1].data() + colon + 1, end, number, 16).ptr == end && number == port &&
      std::from_chars(words[9].data(), words[9].data() + words[9].size(), inode).ec ==
          std::errc()) {
    inodes.push_back(inode);
  }
}

}  // namespace

void read_tcp_listeners(std::string_view text, std::uint16_t port,
                        std::vector<std::uint64_t>& inodes) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(text.substr(0, end), port, inodes);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::uint64_t> tcp_listeners(std::uint16_t port) {
  std::vector<std::uint64_t> inodes;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    read_tcp_listeners(read_whole(path), port, inodes);
  }
  return inodes;
}

}  // namespace bawn::sandbox::net
