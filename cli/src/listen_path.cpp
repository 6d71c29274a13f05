#include "listen_path.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace bawn::cli {
namespace {

namespace fs = std::filesystem;

bool lies_below(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

contract::Result<std::string> socket_path_outside(const std::string& path,
                                                  const shell::SessionConfig& config) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(path, failed);
  const fs::path folder = fs::canonical(absolute.parent_path(), failed);
  if (path.empty() || failed || !absolute.has_filename()) {
    return contract::fail(contract::ErrorCode::InvalidArgument,
                          fmt::format("there is no directory for a socket at \"{}\"", path));
  }
  const fs::path socket = folder / absolute.filename();
  std::vector<std::string> roots = config.policy.write;
  roots.push_back(config.workspace);
  for (const std::string& root : roots) {
    if (lies_below(socket, fs::weakly_canonical(root, failed))) {
      return contract::fail(
          contract::ErrorCode::InvalidArgument,
          fmt::format("the socket must lie outside {}, where commands could be its "
                      "clients and answer what the user is asked",
                      root));
    }
  }
  return socket.string();
}

}  // namespace bawn::cli
