/// \file
/// A made-up place and made-up kernels, for plans without a machine.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::test {

/// A home with secrets, a git workspace in it, a session directory in bawn's state.
inline sandbox::Place sample_place() {
  sandbox::Place place;
  place.workspace = "/home/ann/project";
  place.home = "/home/ann";
  place.uid = place.caller_uid = 1000;
  place.gid = place.caller_gid = 1000;
  place.user = "ann";
  place.session_dir = "/home/ann/.local/state/bawn/sessions/7";
  place.private_tmp = "/home/ann/.local/state/bawn/sessions/7/tmp";
  place.writable_roots = {"/home/ann/project"};
  place.existing_secrets = {"/etc/shadow", "/home/ann/.local/state/bawn", "/home/ann/.netrc",
                            "/home/ann/.ssh"};
  place.secret_directories = {"/home/ann/.local/state/bawn", "/home/ann/.ssh"};
  place.existing_protected = {"/home/ann/project/.git/hooks", "/home/ann/project/.git/config"};
  place.missing_protected = {"/home/ann/project/.envrc"};
  place.host_sockets = {"/home/ann/.cache/agent.sock", "/run/docker.sock", "/tmp/.X11-unix/X0"};
  place.readable_without_secrets = {
      "/etc/passwd", "/home/ann/project", "/home/ann/notes", "/home/ann/.config", "/usr", "/proc"};
  place.masked_paths = {"/proc/kallsyms", "/sys/firmware"};
  place.masked_directories = {"/sys/firmware"};
  place.shared_directories = {"/dev", "/dev/shm", "/run", "/tmp", "/var/tmp"};
  place.top_level = {"/dev", "/etc", "/home", "/proc", "/run", "/sys", "/tmp", "/usr", "/var"};
  return place;
}

/// Everything that a plan may use, with one Landlock ABI.
inline sandbox::KernelFeatures full_features(int landlock_abi = 7) {
  sandbox::KernelFeatures features;
  features.landlock_abi = landlock_abi;
  features.landlock_reason = landlock_abi == 0 ? "no Landlock in this test" : "";
  for (sandbox::Feature* feature :
       {&features.seccomp, &features.seccomp_notify, &features.user_namespace,
        &features.mount_namespace, &features.pid_namespace, &features.network_namespace,
        &features.ipc_namespace, &features.uts_namespace}) {
    feature->available = true;
  }
  features.cgroup_v2.reason = "no cgroup in this test";
  features.kernel = "6.18.0";
  features.machine = "x86_64";
  return features;
}

/// One kernel for each ABI 0 to 9, with and without namespaces and seccomp; for an ordinary user,
/// for root, and where nobody may supervise connections.
inline std::vector<sandbox::KernelFeatures> every_kernel() {
  std::vector<sandbox::KernelFeatures> kernels;
  for (int abi = 0; abi <= 9; ++abi) {
    for (const char* off : {"", "namespaces", "seccomp", "namespaces,seccomp"}) {
      for (const auto& [root, notify] : {std::pair{false, true}, {true, true}, {false, false}}) {
        kernels.push_back(full_features(abi));
        kernels.back().is_root = root;
        kernels.back().seccomp_notify.available = notify;
        kernels.back().seccomp_notify.reason = notify ? "" : "no listener in this test";
        sandbox::take_away(kernels.back(), off);
      }
    }
  }
  return kernels;
}

inline sandbox::Policy policy_named(std::string_view name) {
  return *sandbox::preset(name);
}

/// The place as survey() would see it for that policy.
inline sandbox::Place place_for(const sandbox::Policy& policy) {
  sandbox::Place place = sample_place();
  if (!policy.write_workspace) {
    place.writable_roots.clear();
    place.existing_protected.clear();
    place.missing_protected.clear();
  }
  return place;
}

}  // namespace bawn::test
