#include "scratch_directory.hpp"

#include "bawn/sandbox/remove_tree.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace bawn::sandbox {

contract::Result<std::shared_ptr<const ScratchDirectory>> ScratchDirectory::make(
    std::uint32_t uid, std::uint32_t gid) {
  const char* base = std::getenv("TMPDIR");
  std::string path =
      fmt::format("{}/bawn-tmp-XXXXXX", base != nullptr && *base == '/' ? base : "/tmp");
  if (::mkdtemp(path.data()) == nullptr) {
    return std::unexpected(contract::Error::from_errno(
        errno, "mkdtemp", fmt::format("private temporary directory {}", path)));
  }
  auto scratch = std::make_shared<const ScratchDirectory>(path);
  if (uid != ::geteuid() && ::chown(path.c_str(), uid, gid) != 0) {
    return std::unexpected(contract::Error::from_errno(
        errno, "chown", fmt::format("private temporary directory {}", path)));
  }
  return scratch;
}

ScratchDirectory::~ScratchDirectory() {
  remove_tree(path_);
}

}  // namespace bawn::sandbox
