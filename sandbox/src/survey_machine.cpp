#include "paths.hpp"
#include "small_file.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

/// The first link on the way from `root` to `path`, `path` included.
bool crosses_link(const std::string& root, const std::string& path) {
  for (const std::string& directory : directories_between(root, path)) {
    if (kind_of(directory) == FileKind::Link) {
      return true;
    }
  }
  return kind_of(path) == FileKind::Link;
}

/// Paths in a table like /proc/net/unix: the last column, where it begins with a slash.
void collect_sockets(std::vector<std::string>& found, const char* table) {
  const std::string text = read_small_file(table);
  for (std::size_t at = text.find(" /"); at != std::string::npos; at = text.find(" /", at + 1)) {
    const std::size_t end = text.find('\n', at);
    found.push_back(text.substr(at + 1, end - at - 1));
    if (end == std::string::npos) {
      break;
    }
    at = end;
  }
}

/// True when pid 1 has another network namespace, whose sockets the own table does not list.
bool init_has_other_network() {
  struct stat own{};
  struct stat init{};
  return ::stat("/proc/self/ns/net", &own) == 0 && ::stat("/proc/1/ns/net", &init) == 0 &&
         own.st_ino != init.st_ino;
}

}  // namespace

bool is_for_root_only(const std::string& path) noexcept {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && (status.st_mode & (S_IROTH | S_IXOTH)) == 0;
}

void add_protected_path(Place& place, const std::string& root, const std::string& path,
                        bool needed) {
  if (contains(place.existing_protected, path) || contains(place.missing_protected, path)) {
    return;
  }
  // A bind through a link would land on the link's target and leave the link itself replaceable.
  const FileKind kind = kind_of(path);
  const bool usable = kind != FileKind::Missing && !crosses_link(root, path) &&
                      !is_within_any(path, place.existing_secrets);
  if (usable) {
    place.existing_protected.push_back(path);
  } else if (needed || kind != FileKind::Missing) {
    place.missing_protected.push_back(path);
  }
}

void find_protected_names(Place& place, const Policy& policy) {
  for (const std::string& root : place.writable_roots) {
    if (kind_of(root) != FileKind::Directory) {
      continue;
    }
    for (const std::string& name : policy.protected_names) {
      // A `gitdir` that was made in a main repository leads nobody anywhere.
      add_protected_path(place, root, fmt::format("{}/{}", root, name), name != ".git/gitdir");
    }
    // In a worktree .git is a file that says where the repository is; whoever replaces it brings
    // hooks of his own.
    if (kind_of(root + "/.git") == FileKind::Regular) {
      add_protected_path(place, root, root + "/.git", true);
      std::erase_if(place.missing_protected,
                    [&](const std::string& path) { return is_below(path, root + "/.git"); });
    }
  }
}

void find_shared_directories(Place& place) {
  for (const char* path : {"/dev", "/dev/shm", "/run", "/tmp", "/var/tmp"}) {
    if (kind_of(path) == FileKind::Directory) {
      place.shared_directories.emplace_back(path);
    }
  }
  const std::string resolver = canonical("/etc/resolv.conf");
  if (is_below(resolver, "/run")) {
    place.resolver_file = resolver;
  }
}

void find_kernel_masks(Place& place) {
  for (const char* path :
       {"/proc/acpi",           "/proc/kallsyms",     "/proc/kcore",       "/proc/keys",
        "/proc/kmsg",           "/proc/kpagecgroup",  "/proc/kpagecount",  "/proc/kpageflags",
        "/proc/latency_stats",  "/proc/pagetypeinfo", "/proc/sched_debug", "/proc/scsi",
        "/proc/slabinfo",       "/proc/timer_list",   "/proc/vmallocinfo", "/sys/firmware",
        "/sys/fs/bpf",          "/sys/fs/cgroup",     "/sys/fs/pstore",    "/sys/kernel/debug",
        "/sys/kernel/security", "/sys/kernel/tracing"}) {
    const FileKind kind = kind_of(path);
    const bool unreadable = place.caller_uid != 0 && is_for_root_only(path);
    if (kind == FileKind::Missing || kind == FileKind::Link || unreadable) {
      continue;
    }
    place.masked_paths.emplace_back(path);
    if (kind == FileKind::Directory) {
      place.masked_directories.emplace_back(path);
    }
  }
}

void find_host_sockets(Place& place) {
  std::vector<std::string> found;
  collect_sockets(found, "/proc/self/net/unix");
  if (init_has_other_network()) {
    collect_sockets(found, "/proc/1/net/unix");
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  for (std::string& path : found) {
    // Names of other mount namespaces lead nowhere here; a link on the way is resolved first.
    const std::string target = canonical(path);
    if (!target.empty() && kind_of(target) == FileKind::Socket) {
      place.host_sockets.push_back(target);
    }
  }
}

}  // namespace bawn::sandbox
