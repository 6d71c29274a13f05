#include "listen_path.hpp"

#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/roots.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace bawn::cli {

namespace fs = std::filesystem;

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
  const sandbox::Place place = BAWN_TRY(sandbox::survey(
      config.policy, config.workspace, std::string(), sandbox::SurveyScope::MountsOnly));
  std::vector<std::string> roots =
      sandbox::writable_roots(config.policy, place.workspace, place.home);
  roots.insert(roots.end(), place.writable_roots.begin(), place.writable_roots.end());
  roots.push_back(place.workspace);
  for (const std::string& root : roots) {
    if (sandbox::lies_in_any(socket.string(), {root})) {
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
