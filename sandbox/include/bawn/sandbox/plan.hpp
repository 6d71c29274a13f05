/// \file
/// Pure planning: (policy, kernel features, facts about the place) -> exactly what the stub and the
/// warden will do, what could not be had, and which guarantees hold. No system calls; every ABI and
/// every combination is tested without its kernel.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/policy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// Facts about files that a plan needs; gathered by `survey()`, or made up by a test.
struct Place {
  std::string workspace;   ///< absolute, canonical
  std::string home;        ///< home of the session's user, absolute
  std::uint32_t uid = 0;   ///< who commands run as
  std::uint32_t gid = 0;
  std::string user;        ///< its name, or the number
  std::uint32_t caller_uid = 0;  ///< effective uid of bawn itself
  std::uint32_t caller_gid = 0;
  std::string session_dir; ///< bawn's directory for this session, with r/ and w/ inside; may be empty
  std::string private_tmp; ///< host directory that serves as /tmp where mounts cannot be had
  std::vector<std::string> existing_secrets;    ///< secrets of the policy that exist, canonical; no links
  std::vector<std::string> secret_directories;  ///< those of them that are directories
  std::vector<std::string> existing_protected;  ///< protected names that exist, absolute
  std::vector<std::string> missing_protected;   ///< those that do not, absolute
  std::vector<std::string> host_sockets;        ///< path Unix sockets of the host, absolute
  /// Read rules for Landlock without mounts: the siblings along the way to each secret.
  std::vector<std::string> readable_without_secrets;
  std::vector<std::string> masked_paths;        ///< kernel paths to hide that exist (/proc/kcore, …)
};

/// Looks at the machine for one policy and workspace.
///
/// Errors: NotFound (no such workspace), InvalidArgument (it is "/", not a directory, or holds
/// bawn's own state).
[[nodiscard]] Result<Place> survey(const Policy& policy, const std::string& workspace,
                                   const std::string& session_dir);

/// One Landlock rule: rights on a path and all below it.
struct LandlockRule {
  std::string path;
  std::uint64_t access = 0;
  friend bool operator==(const LandlockRule&, const LandlockRule&) = default;
};

struct LandlockPlan {
  int abi = 0;                    ///< 0 = not applied
  std::uint64_t handled_fs = 0;
  std::uint64_t handled_net = 0;
  std::uint64_t scoped = 0;
  std::uint32_t restrict_flags = 0;
  std::vector<LandlockRule> rules;
  std::vector<std::string> missing;  ///< what this ABI cannot hold, one sentence each
};

/// A classic BPF instruction, laid out as struct sock_filter.
struct BpfInstruction {
  std::uint16_t code = 0;
  std::uint8_t jt = 0;
  std::uint8_t jf = 0;
  std::uint32_t k = 0;
};

struct SeccompPlan {
  bool apply = false;
  std::vector<BpfInstruction> program;
  std::vector<std::string> missing;
};

/// One step of the mount namespace, executed in order by the warden, which builds no strings.
struct MountStep {
  enum class Kind : std::uint32_t {
    MakePrivate,    ///< mount(NULL, "/", NULL, MS_REC|MS_PRIVATE)
    BindReadOnly,   ///< bind source (recursively) on target, then read-only
    BindWritable,   ///< bind source (recursively) on target, then writable, nosuid, nodev
    RemountReadOnly,///< mount_setattr(target, RDONLY|NOSUID, recursive)
    Tmpfs,          ///< tmpfs on target with data
    MaskDirectory,  ///< empty read-only tmpfs, mode 000, on target
    MaskFile,       ///< bind of the session's empty unreadable file (or /dev/null) on target
    Proc,           ///< fresh procfs on target
    Devices,        ///< private /dev: tmpfs with null zero full random urandom tty, pts, shm, fd links
    MakeDirectory,  ///< mkdir -p target inside what was mounted before
    WriteFile,      ///< write data to target (own /proc/sys knobs of the new namespaces)
    HoldPath,       ///< open_tree(source) now, kept under a number for a later BindHeld
    BindHeld,       ///< move the tree held as `source` number to target (makes it if data says dir/file)
    Chdir,
  };
  Kind kind;
  std::string source;
  std::string target;
  std::string data;
  bool optional = false;  ///< a failure is reported as missing, not fatal
  friend bool operator==(const MountStep&, const MountStep&) = default;
};

struct NamespacePlan {
  std::uint64_t clone_flags = 0;   ///< CLONE_NEW* bits; 0 = none
  bool full_identity_map = false;  ///< root: 0 0 4294967295, else a single map
  std::vector<MountStep> mounts;
  bool loopback_up = false;
  std::string hostname;            ///< set in the uts namespace; empty = left
  std::vector<std::string> missing;
};

struct HygienePlan {
  bool apply = false;
  bool new_keyring = true;
  bool drop_capabilities = true;
  bool no_new_privs = true;        ///< always with seccomp or Landlock
  struct Rlimit {
    int resource;
    std::uint64_t soft;
    std::uint64_t hard;
  };
  std::vector<Rlimit> rlimits;
  std::vector<std::string> missing;
};

/// Everything a session's warden will do, and what it will say.
struct SessionPlan {
  LandlockPlan landlock;
  SeccompPlan seccomp;
  NamespacePlan namespaces;
  HygienePlan hygiene;
  bool child_scope_layer = false;  ///< no PID namespace: each child gets a scope-only Landlock layer
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string workspace;
  std::string tmp;                 ///< what TMPDIR is inside
  std::string home;
  /// The forecast: every layer with what is missing and why, the guarantees that will hold. The
  /// warden's confirmation turns it into the report.
  contract::Confinement forecast;
};

/// Plans a session.
///
/// Errors: Unsupported when a required guarantee or a Required layer cannot be had and best_effort
/// is off; the sentence names the guarantee, why, and what would give it.
[[nodiscard]] Result<SessionPlan> plan_session(const Policy& policy, const KernelFeatures& features,
                                               const Place& place);

[[nodiscard]] LandlockPlan plan_landlock(const Policy& policy, int abi, bool with_mounts,
                                         const Place& place);
/// `with_network_namespace` and `with_pid_namespace` decide what seccomp must hold alone.
[[nodiscard]] Result<SeccompPlan> plan_seccomp(const Policy& policy, bool with_network_namespace,
                                               bool with_pid_namespace);

/// The environment that enters a session: names allowed by the policy, none that looks like a
/// credential unless named exactly, HOME, TMPDIR, PATH and the like made right for the inside.
[[nodiscard]] std::vector<std::string> session_environment(const Policy& policy,
                                                           const SessionPlan& plan,
                                                           const std::vector<std::string>& host);

}  // namespace bawn::sandbox
