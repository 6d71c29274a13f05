#include "sibling.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace bawn::cli {
namespace {

/// The file of that name beside this program, so that both are of one version.
contract::Result<std::string> beside_this_program(const std::string& name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) {
    return std::unexpected(
        contract::Error::from_errno(errno, "readlink", "finding the program's own folder"));
  }
  const std::string own(path.data(), static_cast<std::size_t>(length));
  return own.substr(0, own.rfind('/') + 1) + name;
}

}  // namespace

contract::Error become(const std::string& name, std::vector<std::string> words) {
  const auto program = beside_this_program(name);
  if (!program) {
    return program.error();
  }
  std::string own_name = name;
  std::vector<char*> argv = {own_name.data()};
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  ::execv(program->c_str(), argv.data());
  return contract::Error::from_errno(errno, "execv", "starting " + *program);
}

}  // namespace bawn::cli
