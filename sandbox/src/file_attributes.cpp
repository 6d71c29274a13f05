#include "file_attributes.hpp"

#include "kept_attributes.hpp"

#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace bawn::sandbox {

FileAttributes read_attributes(int fd) {
  FileAttributes found;
  std::array<char, 4096> names{};
  const ssize_t length = ::flistxattr(fd, names.data(), names.size());
  if (length < 0) {
    found.complete = errno == EOPNOTSUPP;
    return found;
  }
  std::size_t room = kMostAttributes;
  std::string_view rest(names.data(), static_cast<std::size_t>(length));
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!is_kept_attribute(name.c_str())) {
      found.complete = found.complete && is_kernels_attribute(name.c_str());
      continue;
    }
    std::string value(room, '\0');
    // With no room it would only tell the size.
    const ssize_t size = room == 0 ? -1 : ::fgetxattr(fd, name.c_str(), value.data(), value.size());
    if (size < 0) {
      found.complete = false;
      continue;
    }
    value.resize(static_cast<std::size_t>(size));
    room -= value.size();
    found.values.emplace_back(name, std::move(value));
  }
  return found;
}

bool write_attributes(int fd, const FileAttributes& attributes) {
  bool all = attributes.complete;
  for (const auto& [name, value] : attributes.values) {
    all = is_kept_attribute(name.c_str()) &&
          ::fsetxattr(fd, name.c_str(), value.data(), value.size(), XATTR_CREATE) == 0 && all;
  }
  return all;
}

FileAttributes attributes_of(const OpenedFile& file) {
  return file.attributes ? *file.attributes : read_attributes(file.fd.get());
}

}  // namespace bawn::sandbox
