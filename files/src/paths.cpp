#include "paths.hpp"

#include <filesystem>

namespace bawn::files {

Result<std::string> absolute_path(const Place& place, std::string_view path) {
  if (path.empty()) {
    return contract::fail(ErrorCode::InvalidArgument, "the path is empty");
  }
  if (path.find('\0') != std::string_view::npos) {
    return contract::fail(ErrorCode::InvalidArgument, "the path has a NUL character");
  }
  if (path.starts_with('/')) {
    return std::string(path);
  }
  if (path == "~" || path.starts_with("~/")) {
    return place.home + std::string(path.substr(1));
  }
  if (path == ".") {
    return place.workspace;
  }
  return place.workspace + "/" + std::string(path.starts_with("./") ? path.substr(2) : path);
}

Result<std::string> file_path(const Place& place, std::string_view path) {
  if (path.ends_with('/')) {
    return contract::fail(ErrorCode::InvalidArgument,
                          std::string(path) +
                              " ends with a slash, so it can only be a directory; leave the slash "
                              "out to name a file (list_files shows what a directory holds)");
  }
  return absolute_path(place, path);
}

std::string normal_path(std::string_view absolute) {
  std::string normal = std::filesystem::path(absolute).lexically_normal();
  while (normal.size() > 1 && normal.ends_with('/')) {
    normal.pop_back();
  }
  return normal;
}

bool lies_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() + 1 && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

std::string shown_path(const Place& place, std::string_view absolute) {
  const std::string root = place.workspace + "/";
  if (absolute.starts_with(root) && absolute.size() > root.size()) {
    return std::string(absolute.substr(root.size()));
  }
  return std::string(absolute);
}

}  // namespace bawn::files
