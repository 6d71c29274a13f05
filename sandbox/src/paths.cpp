#include "paths.hpp"

#include <algorithm>

namespace bawn::sandbox {

bool is_below(std::string_view path, std::string_view root) noexcept {
  if (root == "/") {
    return path.size() > 1;
  }
  return path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
}

bool is_within(std::string_view path, std::string_view root) noexcept {
  return path == root || is_below(path, root);
}

bool is_within_any(std::string_view path, const std::vector<std::string>& roots) {
  return std::ranges::any_of(roots, [&](const std::string& root) { return is_within(path, root); });
}

bool belongs_to_kernel(std::string_view path) {
  return is_within_any(path, {"/proc", "/sys", "/dev"}) && !is_within(path, "/dev/shm");
}

std::string parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::vector<std::string> directories_between(std::string_view root, std::string_view path) {
  std::vector<std::string> found;
  for (std::string at = parent_of(path); is_below(at, root); at = parent_of(at)) {
    found.push_back(at);
  }
  std::ranges::reverse(found);
  return found;
}

std::string session_store(std::string_view session_dir) {
  std::string parent = parent_of(session_dir);
  return parent.ends_with("/sessions") ? parent : std::string(session_dir);
}

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::ranges::find(list, item) != list.end();
}

}  // namespace bawn::sandbox
