#include "bawn/sandbox/inside.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>
#include <vector>

namespace bawn::sandbox {
namespace {

/// With its final slash.
std::string directory_of_this_program() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view whole(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(whole.substr(0, whole.rfind('/') + 1));
}

}  // namespace

contract::Result<std::string> find_warden_program(const std::string& wanted) {
  const std::string here = directory_of_this_program();
  const std::vector<std::string> places =
      wanted.empty() ? std::vector{here + "bawn-warden", here + "../libexec/bawn/bawn-warden"}
                     : std::vector{wanted};
  for (const std::string& path : places) {
    if (::access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return contract::fail(contract::ErrorCode::NotFound,
                        fmt::format("the program bawn-warden is not at {}; install it beside this "
                                    "program or name its path",
                                    fmt::join(places, " or ")));
}

}  // namespace bawn::sandbox
