#include "features_cgroup.hpp"

#include "kernel_release.hpp"
#include "small_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>

namespace bawn::sandbox {
namespace {

constexpr std::array kWanted = {"memory", "pids", "cpu"};

std::string read(const std::string& path) {
  return read_small_file(path.c_str());
}

bool can(const std::string& path, int mode) {
  return ::access(path.c_str(), mode) == 0;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string word; in >> word;) {
    found.push_back(std::move(word));
  }
  return found;
}

bool contains(const std::vector<std::string>& list, const char* word) {
  return std::ranges::find(list, word) != list.end();
}

/// Where the v2 tree is mounted: whole, or beside v1's.
std::string tree_below(const std::string& root) {
  for (const char* place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (can(root + place + "/cgroup.controllers", F_OK)) {
      return root + place;
    }
  }
  return {};
}

/// The directory of the cgroup that sessions could get theirs in; empty with `reason` set.
std::string own_directory(const std::string& root, std::string& reason) {
  const std::string tree = tree_below(root);
  const std::string own = read(root + "/proc/self/cgroup");
  const std::size_t start = own.starts_with("0::/") ? 0 : own.find("\n0::/");
  if (tree.empty() || start == std::string::npos) {
    reason = "there is no cgroup v2 at /sys/fs/cgroup, and v1 is not used";
    return {};
  }
  const std::size_t slash = own.find('/', start);
  std::string path = own.substr(slash, own.find('\n', slash) - slash);
  if ((path + "/").starts_with("/../")) {
    reason = "the own cgroup lies outside this cgroup namespace";
    return {};
  }
  if (path.ends_with(std::string("/") + kServerCgroup)) {
    path.resize(path.rfind('/'));
  }
  return path == "/" ? tree : tree + path;
}

/// systemd says so by an attribute ("trusted" for root, "user" from version 251 on). A cgroup that
/// it did not hand over is its own to arrange, whoever could write there.
bool is_delegated(const std::string& root, const std::string& directory) {
  if (!can(root + "/run/systemd/system", F_OK)) {
    return true;
  }
  char value = 0;
  return std::ranges::any_of(
      std::array{"user.delegate", "trusted.delegate"}, [&](const char* name) {
        return ::getxattr(directory.c_str(), name, &value, 1) == 1 && value == '1';
      });
}

/// Why no session can get a cgroup there; empty when it can.
std::string blocker(const std::string& root, const std::string& directory,
                    const std::string& kernel) {
  if (!kernel_at_least(kernel, 5, 14)) {
    return "cgroup.kill needs Linux 5.14";
  }
  // EINVAL where it is there. Containers' filters answer ENOSYS so that the C library falls back.
  if (::syscall(SYS_clone3, nullptr, std::size_t{0}) == -1 && errno == ENOSYS) {
    return "clone3(2) is refused here, as in many containers";
  }
  if (!can(directory, W_OK | X_OK) || !can(directory + "/cgroup.procs", W_OK)) {
    return "the own cgroup may not be written; systemd-run --user --scope -p Delegate=yes gives "
           "one that may";
  }
  if (!is_delegated(root, directory)) {
    return "systemd did not delegate the own cgroup; systemd-run --user --scope -p Delegate=yes "
           "gives one that is";
  }
  return {};
}

/// Controllers can be given on by the root of the whole tree, which alone has no type, and by a
/// cgroup whose only process is this one, which then moves.
bool may_give_on(const std::string& directory) {
  if (!can(directory + "/cgroup.subtree_control", W_OK)) {
    return false;
  }
  const std::string self = std::to_string(::getpid());
  return !can(directory + "/cgroup.type", F_OK) ||
         std::ranges::all_of(words(read(directory + "/cgroup.procs")),
                             [&](const std::string& process) { return process == self; });
}

void look_at_controllers(KernelFeatures& features) {
  const std::vector<std::string> there = words(read(features.cgroup + "/cgroup.controllers"));
  const std::vector<std::string> given = words(read(features.cgroup + "/cgroup.subtree_control"));
  const bool may_give = may_give_on(features.cgroup);
  std::vector<std::string> absent;
  bool shared = false;
  for (const char* name : kWanted) {
    if (contains(given, name) || (may_give && contains(there, name))) {
      features.cgroup_controllers.emplace_back(name);
    } else if (contains(there, name)) {
      shared = true;
    } else {
      absent.emplace_back(name);
    }
  }
  if (!absent.empty()) {
    features.cgroup_reason = fmt::format(
        "no controller {}: cgroup v1 holds it, which is not used, or nobody handed it over",
        fmt::join(absent, ", "));
  } else if (shared) {
    features.cgroup_reason =
        "other processes share the own cgroup, so that its controllers cannot be given on";
  }
}

}  // namespace

void look_at_cgroup(const std::string& root, KernelFeatures& features) {
  std::string reason;
  features.cgroup = own_directory(root, reason);
  if (reason.empty()) {
    reason = blocker(root, features.cgroup, features.kernel);
  }
  features.cgroup_v2 = {reason.empty(), reason};
  if (reason.empty()) {
    look_at_controllers(features);
  }
}

}  // namespace bawn::sandbox
