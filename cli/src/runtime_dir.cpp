#include "runtime_dir.hpp"

#include "bawn/sandbox/own_state.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace bawn::cli {

contract::Result<std::string> runtime_dir() {
  const std::string path = sandbox::own_state_directory();
  const mode_t mode = ::geteuid() == 0 ? 0711 : 0700;
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return std::unexpected(contract::Error::from_errno(
        errno, "mkdir",
        fmt::format("cannot make {}; BAWN_RUNTIME_DIR may name another place", path)));
  }
  // /tmp is everybody's: whoever made the name first must be us, and it must be no link.
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      found.st_uid != ::geteuid() || (found.st_mode & 022) != 0) {
    return contract::fail(
        contract::ErrorCode::PermissionDenied,
        fmt::format("{} is not a directory of yours that only you can write; remove it or set "
                    "BAWN_RUNTIME_DIR",
                    path));
  }
  return path;
}

contract::Result<> check_apart_from_state(const std::string& workspace) {
  std::error_code failed;
  const std::string root = std::filesystem::weakly_canonical(workspace, failed).string();
  const std::string state =
      std::filesystem::weakly_canonical(sandbox::own_state_directory(), failed).string();
  if (!root.empty() && (state == root || state.starts_with(root + "/"))) {
    return contract::fail(
        contract::ErrorCode::InvalidArgument,
        fmt::format(
            "the workspace {} holds bawn's own state in {}; choose another workspace or set "
            "BAWN_RUNTIME_DIR",
            root, state));
  }
  return {};
}

}  // namespace bawn::cli
