/// \file
/// What this kernel and this place offer, as one value: probed once, or made up by a test.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// One thing the kernel may offer, and in plain words why it does not.
struct Feature {
  bool available = false;
  std::string reason;  ///< why not; empty when available
};

struct KernelFeatures {
  int landlock_abi = 0;         ///< 0 = none; else the kernel's ABI (1 = Linux 5.13)
  std::string landlock_reason;  ///< why there is none
  /// Layers that this process is in already, of 16; only probe_features() knows.
  std::optional<int> landlock_layers;
  Feature seccomp;          ///< seccomp(2) filters
  Feature seccomp_notify;   ///< user notification (Linux 5.0)
  Feature user_namespace;   ///< clone(CLONE_NEWUSER) works here for this user
  Feature mount_namespace;  ///< and mounts work inside it (fresh proc and tmpfs, binds)
  Feature pid_namespace;
  Feature network_namespace;
  Feature ipc_namespace;
  Feature uts_namespace;
  Feature cgroup_v2;   ///< a delegated cgroup v2 that sessions' own can be made in
  std::string cgroup;  ///< its directory
  /// Those of memory, pids and cpu that a cgroup below it can have.
  std::vector<std::string> cgroup_controllers;
  std::string cgroup_reason;     ///< why those that are not among them are not
  Feature audit;                 ///< Landlock records can be read
  bool is_root = false;          ///< effective uid 0
  bool yama_restricted = false;  ///< Yama ptrace_scope 2 or more
  std::string kernel;            ///< uname -r
  std::string machine;           ///< uname -m
};

/// Tries each feature for real (in throw-away child processes where a try cannot be undone).
///
/// The environment variable BAWN_FEATURES_OFF (comma list of landlock, seccomp, namespaces, cgroup)
/// takes features away, never adds any: a hook for tests and for reproducing a weaker machine.
/// Blocking: a few milliseconds. Threads: thread-safe; makes child processes only by os::spawn.
[[nodiscard]] KernelFeatures probe_features();

/// The same from what files under /proc say and Landlock's version call, without any child process:
/// namespaces count as available unless a known setting forbids them. A session planned by this may
/// still fail in the warden (an LSM, a container's profile); then plan again with probe_features().
///
/// BAWN_FEATURES_OFF holds here too.
/// Blocking: some ten file reads. Threads: thread-safe.
[[nodiscard]] KernelFeatures assume_features();

/// Takes the comma-separated features of `list` (landlock, seccomp, namespaces, cgroup) away.
void take_away(KernelFeatures& features, std::string_view list);

}  // namespace bawn::sandbox
