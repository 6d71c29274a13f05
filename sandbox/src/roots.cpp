#include "bawn/sandbox/roots.hpp"

#include "paths.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace bawn::sandbox {
namespace {

/// "/a/" and "/a" are one directory.
std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

void add(std::vector<std::string>& roots, const std::string& written) {
  const std::filesystem::path path = std::filesystem::path(written).lexically_normal();
  std::error_code failed;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(written, failed);
  for (const std::filesystem::path& one : {path, failed ? path : resolved}) {
    std::string root = without_last_slash(one);
    if (!contains(roots, root)) {
      roots.push_back(std::move(root));
    }
  }
}

}  // namespace

std::vector<std::string> writable_roots(const Policy& policy, const std::string& workspace,
                                        std::string_view home) {
  std::vector<std::string> roots;
  if (policy.write_workspace) {
    add(roots, workspace);
  }
  for (const std::string& root : policy.write) {
    add(roots, root.starts_with("~/") ? std::string(home) + root.substr(1) : root);
  }
  return roots;
}

bool lies_in_any(std::string_view path, const std::vector<std::string>& roots) {
  return is_within_any(path, roots);
}

}  // namespace bawn::sandbox
