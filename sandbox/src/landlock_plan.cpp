#include "bawn/sandbox/plan.hpp"
#include "kernel_abi.hpp"
#include "paths.hpp"

#include <algorithm>

namespace bawn::sandbox {
namespace {

constexpr std::uint64_t kRead = abi::kExecute | abi::kReadFile | abi::kReadDir;

std::uint64_t handled_file_rights(int version) {
  std::uint64_t rights = (abi::kMakeSym << 1) - 1;
  rights |= version >= 2 ? abi::kRefer : 0;
  rights |= version >= 3 ? abi::kTruncate : 0;
  rights |= version >= 5 ? abi::kIoctlDev : 0;
  rights |= version >= 9 ? abi::kResolveUnix : 0;
  return rights;
}

/// What a writable directory gets: never device nodes, device commands, or the host's sockets.
std::uint64_t writable_rights(std::uint64_t handled) {
  return handled & ~(abi::kMakeChar | abi::kMakeBlock | abi::kIoctlDev | abi::kResolveUnix);
}

/// Collects rules, cutting every right to what the kernel knows.
class Rules {
 public:
  explicit Rules(std::uint64_t handled) : handled_(handled) {}
  void add(const std::string& path, std::uint64_t access) {
    if ((access & handled_) != 0) {
      rules_.push_back({path, access & handled_});
    }
  }
  std::vector<LandlockRule> take() { return std::move(rules_); }

 private:
  std::uint64_t handled_;
  std::vector<LandlockRule> rules_;
};

constexpr std::uint64_t kDevice =
    abi::kReadFile | abi::kWriteFile | abi::kTruncate | abi::kIoctlDev;

/// With mounts: masks hide secrets, so "/" is one rule, unless a report channel under /run must be
/// write-only: Landlock only ever adds rights on the way down, so then "/" may only be listed.
void add_reads_behind_mounts(Rules& rules, const Place& place) {
  if (place.session_dir.empty() || !contains(place.shared_directories, "/run")) {
    rules.add("/", kRead);
    return;
  }
  rules.add("/", abi::kExecute | abi::kReadDir);
  for (const std::string& entry : place.top_level) {
    if (entry != "/run") {
      rules.add(entry, kRead);
    }
  }
  if (!place.resolver_file.empty()) {
    rules.add(place.resolver_file, kRead);
  }
}

void add_shared_directories(Rules& rules, const Place& place, std::uint64_t writable) {
  for (const std::string& directory : place.shared_directories) {
    if (directory == "/dev") {
      rules.add(directory, kRead | kDevice);  // the private one: a few harmless nodes
    } else if (directory != "/run") {
      rules.add(directory, writable);
    }
  }
}

/// Without mounts /dev is the host's: each node by its name, never the directory, which holds disks
/// that their owner may open without any capability.
void add_host_devices(Rules& rules) {
  for (const char* node : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
                           "/dev/tty", "/dev/ptmx"}) {
    rules.add(node, kDevice);
  }
  rules.add("/dev/pts", kDevice | abi::kReadDir);
}

void add_session_directory(Rules& rules, const Place& place, bool with_mounts) {
  const std::string inside = session_directory_inside(place, with_mounts);
  if (!inside.empty()) {
    rules.add(inside + "/r", abi::kReadFile | abi::kReadDir);
    rules.add(inside + "/w", abi::kWriteFile | abi::kTruncate);
  }
}

void name_missing_rights(LandlockPlan& plan) {
  const auto missing = [&](int since, const char* sentence) {
    if (plan.abi < since) {
      plan.missing.emplace_back(sentence);
    }
  };
  missing(2, "moving or linking a file to another directory always fails (needs Landlock ABI 2)");
  missing(3, "truncating files outside is not held by Landlock (needs ABI 3)");
  missing(4, "TCP is not held by Landlock (needs ABI 4)");
  missing(5, "device commands (ioctl) are not held by Landlock (needs ABI 5)");
  missing(6, "signals and abstract Unix sockets are not held by Landlock (needs ABI 6)");
  missing(7, "denials after an exec are not in the kernel's audit records (needs Landlock ABI 7)");
  missing(9, "Unix sockets with a path are not held by Landlock (needs ABI 9)");
}

void name_limits_without_mounts(LandlockPlan& plan) {
  plan.missing.emplace_back(
      "modes, times and owners of files outside can be changed where plain permissions allow it");
  plan.missing.emplace_back("names, sizes and times of secrets can be seen");
  plan.missing.emplace_back("other terminals of the same user can be written to");
  plan.missing.emplace_back("command lines of the host's processes can be read");
  plan.missing.emplace_back("protected names in the workspace are not write-protected");
}

}  // namespace

std::string session_directory_inside(const Place& place, bool with_mounts) {
  if (place.session_dir.empty() || !with_mounts || is_below(place.session_dir, "/run") ||
      !contains(place.shared_directories, "/run")) {
    return place.session_dir;
  }
  return "/run/bawn";
}

LandlockPlan plan_landlock(const Policy& policy, int abi_version, bool with_mounts,
                           const Place& place, bool with_network_namespace, bool supervised) {
  LandlockPlan plan;
  if (!policy.enforce || abi_version < 1 || policy.landlock == LayerMode::Off) {
    return plan;
  }
  plan.abi = std::min(abi_version, abi::kNewestLandlockAbi);
  plan.handled_fs = handled_file_rights(plan.abi);
  if (plan.abi >= 4 && policy.network != Network::Full && !with_network_namespace) {
    plan.handled_net = abi::kBindTcp | abi::kConnectTcp;
  } else if (plan.abi >= 4 && supervised) {
    plan.handled_net = abi::kConnectTcp;  // the supervisor connects: nobody inside needs the right
  }
  if (plan.abi >= 6) {
    plan.scoped = abi::kScopeAbstractUnix | abi::kScopeSignal;
  }
  plan.restrict_flags = plan.abi >= 7 ? abi::kLogNewExecOn : 0;

  const std::uint64_t writable = writable_rights(plan.handled_fs);
  Rules rules(plan.handled_fs);
  if (with_mounts) {
    add_reads_behind_mounts(rules, place);
    add_shared_directories(rules, place, writable);
  } else {
    for (const std::string& path : place.readable_without_secrets) {
      rules.add(path, kRead);
    }
    add_host_devices(rules);
    if (!place.private_tmp.empty()) {
      rules.add(place.private_tmp, writable);
    }
  }
  if (with_mounts && is_below(place.workspace, "/run")) {
    rules.add(place.workspace, kRead);
  }
  for (const std::string& root : place.writable_roots) {
    rules.add(root, writable);
  }
  add_session_directory(rules, place, with_mounts);
  plan.rules = rules.take();

  name_missing_rights(plan);
  if (!with_mounts) {
    name_limits_without_mounts(plan);
  }
  return plan;
}

}  // namespace bawn::sandbox
