/// \file
/// Pure planning: (policy, kernel features, facts about the place) -> exactly what the stub and the
/// warden will do, what could not be had, and which guarantees hold. No system calls; every ABI and
/// every combination is tested without its kernel.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/policy.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// Facts about files that a plan needs; gathered by `survey()`, or made up by a test.
struct Place {
  std::string workspace;  ///< absolute, canonical
  std::string home;       ///< home of the session's user, absolute
  /// Homes that the accounts of the session's and of the caller's user name, canonical: HOME is
  /// only a variable, and what lies in the real home is as secret when it points elsewhere.
  std::vector<std::string> account_homes{};
  std::uint32_t uid = 0;  ///< who commands run as
  std::uint32_t gid = 0;
  std::string user;              ///< its name, or the number
  std::uint32_t caller_uid = 0;  ///< effective uid of bawn itself
  std::uint32_t caller_gid = 0;
  std::string
      session_dir;  ///< bawn's directory for this session, with r/ and w/ inside; may be empty
  std::string private_tmp;  ///< host directory that serves as /tmp where mounts cannot be had
  std::vector<std::string>
      existing_secrets;  ///< secrets of the policy that exist, canonical; no links
  std::vector<std::string> secret_directories;  ///< those of them that are directories
  std::vector<std::string> existing_protected;  ///< protected names that exist, absolute
  std::vector<std::string> missing_protected;   ///< those that do not, absolute
  std::vector<std::string> host_sockets;        ///< path Unix sockets of the host, absolute
  /// Read rules for Landlock without mounts: the siblings along the way to each secret.
  std::vector<std::string> readable_without_secrets;
  std::vector<std::string> masked_paths;  ///< kernel paths to hide that exist (/proc/kcore, …)
  std::vector<std::string> masked_directories;  ///< those of them that are directories
  /// Roots that the policy lets a session write and that exist, canonical: the workspace (when
  /// writable) and the policy's further ones.
  std::vector<std::string> writable_roots;
  /// Those of /dev, /dev/shm, /run, /tmp and /var/tmp that are directories and no links.
  std::vector<std::string> shared_directories;
  /// What "/" holds, without links: read rules where a session's report channel must stay unread.
  std::vector<std::string> top_level;
  /// Where /etc/resolv.conf leads when that is below /run; empty otherwise.
  std::string resolver_file;
  /// False when `readable_without_secrets` was left out to save time: fit for plans with mounts
  /// only.
  bool has_siblings = true;
};

/// How much survey() looks at.
enum class SurveyScope {
  Full,        ///< fit for every plan
  MountsOnly,  ///< leaves out the siblings of secrets, which only plans without mounts need
  Roots,  ///< leaves out the repositories below writable roots as well: fit for questions about
          ///< the roots, and for no wall
};

/// Looks at the machine for one policy and workspace.
///
/// Errors: NotFound (no such workspace), InvalidArgument (it is "/", not a directory, or holds
/// bawn's own state; it or a root of the policy's `write` lies in /proc, /sys or /dev outside of
/// /dev/shm).
/// Blocking: file reads and one look per secret, below a millisecond; all but Roots list the
/// directories in writable roots, with up to 0.1 s of CPU time where there are thousands of them;
/// Full reads more.
[[nodiscard]] Result<Place> survey(const Policy& policy, const std::string& workspace,
                                   const std::string& session_dir,
                                   SurveyScope scope = SurveyScope::Full);

/// One Landlock rule: rights on a path and all below it. The warden opens the path after the mounts
/// are made; where it is no directory, it leaves out the rights that only directories can have
/// (Landlock refuses those with EINVAL). A path that is not there is skipped.
struct LandlockRule {
  std::string path;
  std::uint64_t access = 0;
  friend bool operator==(const LandlockRule&, const LandlockRule&) = default;
};

struct LandlockPlan {
  int abi = 0;  ///< 0 = not applied
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
    MakePrivate,      ///< mount(NULL, "/", NULL, MS_REC|MS_PRIVATE)
    BindReadOnly,     ///< bind source (recursively) on target, then read-only
    BindWritable,     ///< bind source (recursively) on target, then writable, nosuid, nodev
    RemountReadOnly,  ///< mount_setattr(target, RDONLY|NOSUID, recursive)
    Tmpfs,            ///< tmpfs on target with data, nosuid, nodev
    MaskDirectory,    ///< empty read-only tmpfs, mode 000, on target
    MaskFile,         ///< bind of the session's empty unreadable file (or /dev/null) on target
    Proc,             ///< fresh procfs on target
    /// Private /dev on target: tmpfs with null zero full random urandom tty, a new devpts with
    /// ptmx, fd links, and shm as a tmpfs with `data`; read-only itself in the end.
    Devices,
    MakeDirectory,  ///< mkdir -p target inside what was mounted before
    WriteFile,      ///< write data to target (own /proc/sys knobs of the new namespaces)
    /// Clone the mount tree at `source` now (recursively) and keep it under the number in `target`;
    /// numbers count up from 0 in the order of the steps.
    HoldPath,
    /// Move the tree held under the number in `source` to `target`, which is made first with its
    /// parents where it is missing: a directory or a file, as what is held.
    BindHeld,
    Chdir,
    MakeSymlink,  ///< symlink named target that says source
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
  std::string hostname;  ///< set in the uts namespace; empty = left
  std::vector<std::string> missing;
};

struct HygienePlan {
  bool apply = false;
  bool new_keyring = true;
  bool drop_capabilities = true;
  bool no_new_privs = true;  ///< always with seccomp or Landlock
  struct Rlimit {
    int resource;
    std::uint64_t soft;
    std::uint64_t hard;
  };
  std::vector<Rlimit> rlimits;
  std::vector<std::string> missing;
};

/// The session's own cgroup v2: made by the server, entered by the warden at its birth.
struct CgroupPlan {
  bool apply = false;
  std::string parent;                    ///< the delegated cgroup's directory
  std::vector<std::string> controllers;  ///< to be enabled for what lies in `parent`
  struct Setting {
    std::string file;  ///< "memory.max", ...
    std::string value;
    friend bool operator==(const Setting&, const Setting&) = default;
  };
  std::vector<Setting> settings;
  std::vector<std::string> missing;  ///< limits of the policy that it cannot hold
  std::string reason;                ///< why there is none
};

/// What the file agent holds by itself, beside the layers or where there are none.
struct FilePlan {
  struct Root {
    std::string path;  ///< absolute, inside
    bool writable = false;
    friend bool operator==(const Root&, const Root&) = default;
  };
  bool hold_paths = false;       ///< no layer holds paths: every path stays below a root
  bool hold_attributes = false;  ///< no mounts: attributes change below a writable root only
  std::vector<Root> roots;       ///< the workspace, further writable roots, the temporary directory
  /// Protected names of the policy, absolute, whether they exist or not: no file tool writes them,
  /// also where no mount holds them.
  std::vector<std::string> protected_paths;
};

/// How the session reaches the network, beyond what namespaces and the filter leave open.
struct NetworkPlan {
  bool proxy = false;  ///< the server has a proxy for the policy's hosts
  /// The warden makes the proxy's socket in the session's network namespace; else it is the
  /// server's own, on the host's loopback.
  bool inside = false;
  bool supervise = false;       ///< connect(2) on TCP is done by the server, for every child
  bool sockets_inside = false;  ///< with `supervise`: nothing but the session's own loopback
  std::vector<BpfInstruction> program;  ///< the filter with the listener, for each child
  std::vector<std::string> hosts;       ///< as in Policy
  std::map<std::string, std::string> host_addresses;
  std::string blocker;  ///< why what the policy wants cannot be had; empty when it can
};
/// The port of the proxy inside, where the session has a network namespace of its own.
inline constexpr std::uint16_t kInsideProxyPort = 41080;

/// Everything a session's warden will do, and what it will say.
struct SessionPlan {
  LandlockPlan landlock;
  SeccompPlan seccomp;
  NamespacePlan namespaces;
  HygienePlan hygiene;
  CgroupPlan cgroup;
  NetworkPlan network;
  FilePlan files;
  bool child_scope_layer =
      false;  ///< no PID namespace: each child gets a scope-only Landlock layer
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user;  ///< name of uid, or the number
  std::string workspace;
  std::string tmp;  ///< what TMPDIR is inside
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

/// The Landlock layer for one ABI. With mounts "/" is readable and masks hide the secrets; without,
/// the readable siblings of the secrets are listed one by one.
[[nodiscard]] LandlockPlan plan_landlock(const Policy& policy, int abi, bool with_mounts,
                                         const Place& place, bool with_network_namespace = false,
                                         bool supervised = false);

/// What other layers already hold, so that the filter need not.
struct SeccompSituation {
  bool network_namespace = false;
  bool pid_namespace = false;
  bool ipc_namespace = false;
  /// The host's Unix sockets with a path cannot be reached: masked by mounts, or Landlock ABI 9.
  bool host_sockets_hidden = false;
  /// connect(2) on TCP is done by the server: no way to connect may stay open beside it.
  bool supervised = false;
  /// Supervised, and without a network namespace: TCP sockets only.
  bool sockets_inside = false;
};

/// Compiles the filter for this machine's architecture.
///
/// Errors: Unsupported (no libseccomp support for this machine), ResourceExhausted.
[[nodiscard]] Result<SeccompPlan> plan_seccomp(const Policy& policy,
                                               const SeccompSituation& situation);

/// The proxy and the supervisor of connect(2). The namespaces and the filter are planned before.
[[nodiscard]] NetworkPlan plan_network(const Policy& policy, const KernelFeatures& features,
                                       bool with_network_namespace);

/// The namespace layer: clone flags and the mount steps in order. No flags when `features` has no
/// user or mount namespaces.
[[nodiscard]] NamespacePlan plan_namespaces(const Policy& policy, const KernelFeatures& features,
                                            const Place& place);

/// Why there is no namespace layer; empty when there is one.
[[nodiscard]] std::string namespaces_blocker(const Policy& policy, const KernelFeatures& features,
                                             const Place& place);

/// What the file agent keeps to by itself; of `plan` the layers, workspace and tmp are read.
[[nodiscard]] FilePlan plan_files(const Policy& policy, const SessionPlan& plan,
                                  const Place& place);

/// Descriptors, keyring, capabilities and limits. With `processes_counted` the cgroup bounds the
/// number of processes.
[[nodiscard]] HygienePlan plan_hygiene(const Policy& policy, const KernelFeatures& features,
                                       bool with_user_namespace, bool processes_counted = false);

/// The session's cgroup. None where it would hold nothing: no limit that a controller keeps, and a
/// PID namespace that ends everything anyway.
[[nodiscard]] CgroupPlan plan_cgroup(const Policy& policy, const KernelFeatures& features,
                                     bool with_pid_namespace);

/// Where the session directory's r/ and w/ are inside: their own place where there are mounts, so
/// that w/ needs no read rule above it. Empty when there is no session directory.
[[nodiscard]] std::string session_directory_inside(const Place& place, bool with_mounts);

/// The environment that enters a session: names allowed by the policy, none that looks like a
/// credential unless named exactly, HOME, TMPDIR, PATH and the like made right for the inside. With
/// a proxy on `proxy_port` (0 = none) the variables that lead clients to it.
[[nodiscard]] std::vector<std::string> session_environment(const Policy& policy,
                                                           const SessionPlan& plan,
                                                           const std::vector<std::string>& host,
                                                           std::uint16_t proxy_port = 0);

}  // namespace bawn::sandbox
