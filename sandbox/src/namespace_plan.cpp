#include "bawn/sandbox/plan.hpp"
#include "git_directory.hpp"
#include "kernel_abi.hpp"
#include "kernel_release.hpp"
#include "mount_list.hpp"
#include "paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace bawn::sandbox {
namespace {

using Kind = MountStep::Kind;

/// The kernel refuses less (RESERVED_PIDS + 1).
constexpr std::uint64_t kLeastPidMax = 301;

/// Directories that a session gets empty and private.
bool is_shadowed(const Place& place, std::string_view path) {
  return std::ranges::any_of(place.shared_directories, [&](const std::string& directory) {
    return is_within(path, directory);
  });
}

/// Writable roots, and below them protected names read-only. Each directory between root and name
/// is pinned by a bind of itself: `mv .git elsewhere` would carry the read-only bind off with it.
void add_writable_roots(MountList& steps, const Place& place) {
  for (const std::string& root : place.writable_roots) {
    steps.add(Kind::BindWritable, root, root);
    std::vector<std::string> pinned;
    const auto pin_between = [&](const std::string& path) {
      for (const std::string& directory : directories_between(root, path)) {
        if (!contains(pinned, directory)) {
          steps.add(Kind::BindWritable, directory, directory);
          pinned.push_back(directory);
        }
      }
    };
    for (const std::string& path : place.existing_protected) {
      if (is_below(path, root)) {
        pin_between(path);
        steps.add(Kind::BindReadOnly, path, path);
      }
    }
    for (const std::string& path : place.existing_secrets) {
      if (is_below(path, root) && !is_within_any(path, place.existing_protected)) {
        pin_between(path);
      }
    }
  }
}

/// A fresh /proc. uid 0 may write /proc/sys there without any capability, and in the real root's
/// session that is the machine's own core_pattern: hence the read-only binds.
void add_proc(MountList& steps, const Policy& policy, const KernelFeatures& features,
              const Place& place) {
  steps.add(Kind::Proc, "proc", "/proc");
  // Before 6.14 pid_max belongs to the whole machine, and root would change it for everyone.
  if (policy.limits.processes && kernel_at_least(features.kernel, 6, 14)) {
    steps.write("/proc/sys/kernel/pid_max",
                fmt::format("{}", std::max(*policy.limits.processes, kLeastPidMax)));
  }
  // These two belong to our own user namespace (Linux 4.9).
  steps.write("/proc/sys/user/max_inotify_instances", "64");
  steps.write("/proc/sys/user/max_user_namespaces", "0");
  steps.add(Kind::BindReadOnly, "/proc/sys", "/proc/sys");
  if (features.is_root || place.uid == 0) {
    for (const char* path : {"/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
      steps.optional(Kind::BindReadOnly, path, path);
    }
  }
}

void add_mask(MountList& steps, const std::string& path, bool directory) {
  steps.add(directory ? Kind::MaskDirectory : Kind::MaskFile, "", path);
}

bool is_reachable_inside(const Place& place, const std::string& path) {
  return !is_shadowed(place, path) || is_within(path, place.workspace) ||
         is_within_any(path, place.writable_roots) ||
         is_within_any(path, common_directories(place.writable_roots));
}

/// The secret directory that the session directory lies in, if any: it cannot be hidden whole.
const std::string* secret_above_session(const Place& place) {
  for (const std::string& secret : place.secret_directories) {
    if (!place.session_dir.empty() && is_within(place.session_dir, secret)) {
      return &secret;
    }
  }
  return nullptr;
}

void add_masks(MountList& steps, const Place& place) {
  for (const std::string& path : place.masked_paths) {
    add_mask(steps, path, contains(place.masked_directories, path));
  }
  const std::string* session_secret = secret_above_session(place);
  for (const std::string& path : place.existing_secrets) {
    const bool is_session_secret = session_secret != nullptr && path == *session_secret;
    if (!is_session_secret && is_reachable_inside(place, path)) {
      add_mask(steps, path, contains(place.secret_directories, path));
    }
  }
  for (const std::string& path : place.host_sockets) {
    if (is_reachable_inside(place, path) && !is_within_any(path, place.existing_secrets)) {
      steps.optional(Kind::MaskFile, "", path);
    }
  }
}

/// A tree that must outlive the private directories: cloned before, attached again after.
struct Held {
  int number;
  std::string target;
};

class HeldTrees {
 public:
  explicit HeldTrees(MountList& steps) : steps_(steps) {}
  void hold(const std::string& source, const std::string& target) {
    const int number = static_cast<int>(held_.size());
    steps_.add(Kind::HoldPath, source, fmt::format("{}", number));
    held_.push_back({number, target});
  }
  void attach() {
    for (const Held& tree : held_) {
      steps_.add(Kind::BindHeld, fmt::format("{}", tree.number), tree.target);
    }
  }

 private:
  MountList& steps_;
  std::vector<Held> held_;
};

/// Outermost first, so that a held tree never covers one attached before it.
std::vector<std::string> roots_in_shadow(const Place& place) {
  std::vector<std::string> roots = place.writable_roots;
  if (!contains(roots, place.workspace)) {
    roots.push_back(place.workspace);
  }
  // git reads more of them than what is writable there.
  for (std::string& directory : common_directories(place.writable_roots)) {
    roots.push_back(std::move(directory));
  }
  std::erase_if(roots, [&](const std::string& root) { return !is_shadowed(place, root); });
  std::ranges::sort(roots);
  std::vector<std::string> outer;
  for (std::string& root : roots) {
    if (!is_within_any(root, outer)) {
      outer.push_back(std::move(root));
    }
  }
  return outer;
}

/// In a private directory: bawn's own directory there, or else the outermost one on the way to the
/// session's that leads to no root. With a mount on it nobody can remove or rename it, as
/// `rm -rf /tmp/*` would; a directory above it can be renamed, and takes it along.
std::string cover_in_shadow(const Place& place) {
  std::vector<std::string> ways;
  for (const std::string& directory : place.shared_directories) {
    if (is_below(place.session_dir, directory)) {
      ways = directories_between(directory, place.session_dir);
    }
  }
  const std::vector<std::string> roots = roots_in_shadow(place);
  std::erase_if(ways, [&](const std::string& way) {
    return std::ranges::any_of(roots,
                               [&](const std::string& root) { return is_within(root, way); });
  });
  if (const std::string* own = secret_above_session(place);
      own != nullptr && contains(ways, *own)) {
    return *own;
  }
  return ways.empty() ? place.session_dir : ways.front();
}

/// The session directory at its host path: two links into the place where it really is. What else
/// lies around it (other sessions, bawn's state) stays hidden.
void add_session_links(MountList& steps, const Place& place, const std::string& inside) {
  const std::string* secret = secret_above_session(place);
  std::string cover = secret != nullptr ? *secret : session_store(place.session_dir);
  if (!is_reachable_inside(place, place.session_dir)) {
    cover = cover_in_shadow(place);
    steps.add(Kind::MakeDirectory, "", cover);
  }
  steps.add(Kind::Tmpfs, "tmpfs", cover, "mode=0711,size=64k");
  if (cover != place.session_dir) {
    steps.add(Kind::MakeDirectory, "", place.session_dir);
  }
  for (const char* part : {"/r", "/w"}) {
    steps.add(Kind::MakeSymlink, inside + part, place.session_dir + part);
  }
  steps.add(Kind::RemountReadOnly, "", cover);
}

void add_private_directories(MountList& steps, const Policy& policy, const Place& place) {
  const auto has = [&](const char* path) { return contains(place.shared_directories, path); };
  if (has("/dev")) {
    steps.add(Kind::Devices, "", "/dev", "mode=1777,size=512m");
  }
  if (has("/run")) {
    steps.add(Kind::Tmpfs, "tmpfs", "/run", "mode=0755,size=16m");
  }
  if (has("/tmp")) {
    std::string options = "mode=1777";
    if (policy.limits.tmp_bytes) {
      options += fmt::format(",size={}", *policy.limits.tmp_bytes);
    }
    steps.add(Kind::Tmpfs, "tmpfs", "/tmp", options);
    if (has("/var/tmp")) {
      steps.add(Kind::BindWritable, "/tmp", "/var/tmp");
    }
  }
}

void add_mounts(NamespacePlan& plan, const Policy& policy, const KernelFeatures& features,
                const Place& place) {
  MountList steps;
  steps.add(Kind::MakePrivate, "", "/");
  steps.add(Kind::RemountReadOnly, "", "/");
  add_writable_roots(steps, place);
  const std::string inside = session_directory_inside(place, true);
  if (!inside.empty()) {
    steps.add(Kind::BindWritable, place.session_dir + "/w", place.session_dir + "/w");
  }
  add_proc(steps, policy, features, place);
  add_masks(steps, place);

  HeldTrees held(steps);
  for (const std::string& root : roots_in_shadow(place)) {
    held.hold(root, root);
  }
  if (!inside.empty()) {
    held.hold(place.session_dir + "/r", inside + "/r");
    held.hold(place.session_dir + "/w", inside + "/w");
  }
  if (!place.resolver_file.empty() && policy.network == Network::Full) {
    held.hold(place.resolver_file, place.resolver_file);
  }
  add_private_directories(steps, policy, place);
  held.attach();
  if (inside != place.session_dir) {
    add_session_links(steps, place, inside);
  }
  plan.mounts = steps.take();
}

/// As many names as a report lists; the rest is counted.
constexpr std::size_t kNamesListed = 64;

void name_limits(NamespacePlan& plan, const Place& place) {
  const std::vector<std::string>& names = place.missing_protected;
  if (!names.empty()) {
    const std::size_t listed = std::min(names.size(), kNamesListed);
    plan.missing.push_back(fmt::format(
        "not protected, since not there at the start or reached by a link: {}{}",
        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
        listed < names.size() ? fmt::format(" and {} more", names.size() - listed) : ""));
  }
}

}  // namespace

std::string namespaces_blocker(const Policy& policy, const KernelFeatures& features,
                               const Place& place) {
  if (!policy.enforce || policy.namespaces == LayerMode::Off) {
    return "switched off by the policy";
  }
  for (const Feature* feature :
       {&features.user_namespace, &features.mount_namespace, &features.pid_namespace}) {
    if (!feature->available) {
      return feature->reason;
    }
  }
  if (!place.session_dir.empty() && !contains(place.shared_directories, "/run")) {
    return "/run is not a directory here, and the session's channels need it";
  }
  return {};
}

NamespacePlan plan_namespaces(const Policy& policy, const KernelFeatures& features,
                              const Place& place) {
  NamespacePlan plan;
  if (!namespaces_blocker(policy, features, place).empty()) {
    return plan;
  }
  plan.clone_flags = abi::kNewUser | abi::kNewMount | abi::kNewPid | abi::kNewCgroup;
  if (features.ipc_namespace.available) {
    plan.clone_flags |= abi::kNewIpc;
  }
  if (features.uts_namespace.available) {
    plan.clone_flags |= abi::kNewUts;
  }
  if (policy.network != Network::Full && features.network_namespace.available) {
    plan.clone_flags |= abi::kNewNet;
    plan.loopback_up = true;
  }
  plan.full_identity_map = features.is_root;
  add_mounts(plan, policy, features, place);
  name_limits(plan, place);
  return plan;
}

}  // namespace bawn::sandbox
