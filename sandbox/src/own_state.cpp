#include "bawn/sandbox/own_state.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace bawn::sandbox {
namespace {

struct Hidden {
  std::mutex mutex;
  std::vector<std::string> paths;
};

Hidden& hidden() {
  static Hidden all;
  return all;
}

}  // namespace

std::string own_state_directory() {
  // NOLINTBEGIN(concurrency-mt-unsafe): as the header says
  if (const char* const named = std::getenv("BAWN_RUNTIME_DIR");
      named != nullptr && *named == '/') {
    return named;
  }
  if (::geteuid() == 0) {
    return "/run/bawn";
  }
  if (const char* const base = std::getenv("XDG_RUNTIME_DIR"); base != nullptr && *base == '/') {
    return fmt::format("{}/bawn", base);
  }
  // NOLINTEND(concurrency-mt-unsafe)
  return fmt::format("/tmp/bawn-{}", ::geteuid());
}

void keep_hidden(const std::string& path) {
  Hidden& all = hidden();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.paths, path) == all.paths.end()) {
    all.paths.push_back(path);
  }
}

std::vector<std::string> own_secrets() {
  Hidden& all = hidden();
  std::vector<std::string> paths = {own_state_directory()};
  const std::lock_guard lock(all.mutex);
  paths.insert(paths.end(), all.paths.begin(), all.paths.end());
  return paths;
}

}  // namespace bawn::sandbox
