#include "listen_path.hpp"

#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/roots.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace bawn::cli {

namespace fs = std::filesystem;

contract::Result<> check_outside(std::string_view what, const std::string& path,
                                 const shell::SessionConfig& config, std::string_view why) {
  const sandbox::Place place = BAWN_TRY(
      sandbox::survey(config.policy, config.workspace, std::string(), sandbox::SurveyScope::Roots));
  std::vector<std::string> roots =
      sandbox::writable_roots(config.policy, place.workspace, place.home);
  roots.insert(roots.end(), place.writable_roots.begin(), place.writable_roots.end());
  roots.push_back(place.workspace);
  for (const std::string& root : roots) {
    if (sandbox::lies_in_any(path, {root})) {
      return contract::fail(contract::ErrorCode::InvalidArgument,
                            fmt::format("{} must lie outside {}, {}", what, root, why));
    }
  }
  return {};
}

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
  BAWN_TRY(check_outside("the socket", socket.string(), config,
                         "where commands could be its clients and answer what the user is asked"));
  return socket.string();
}

}  // namespace bawn::cli
