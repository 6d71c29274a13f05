#include "attributes.hpp"

#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace bawn::files {

namespace {

constexpr std::size_t kMost = std::size_t{16} * 1024;

/// As the file agent keeps them on replacing. What the kernel sets anew by itself is no loss.
bool is_kept(std::string_view name) {
  return name.starts_with("user.") || name == "system.posix_acl_access";
}

bool is_the_kernels(std::string_view name) {
  return name == "security.selinux" || name == "security.ima" || name == "security.evm";
}

}  // namespace

Attributes attributes_of(int fd) {
  Attributes found;
  std::array<char, 4096> names{};
  const ssize_t length = flistxattr(fd, names.data(), names.size());
  if (length < 0) {
    found.complete = errno == EOPNOTSUPP;
    return found;
  }
  std::size_t room = kMost;
  std::string_view rest(names.data(), static_cast<std::size_t>(length));
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!is_kept(name)) {
      found.complete = found.complete && is_the_kernels(name);
      continue;
    }
    std::string value(room, '\0');
    // With no room it would only tell the size.
    const ssize_t size = room == 0 ? -1 : fgetxattr(fd, name.c_str(), value.data(), value.size());
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

bool set_attributes(int fd, const Attributes& attributes) {
  bool all = attributes.complete;
  for (const auto& [name, value] : attributes.values) {
    all = fsetxattr(fd, name.c_str(), value.data(), value.size(), XATTR_CREATE) == 0 && all;
  }
  return all;
}

}  // namespace bawn::files
