/// \file
/// The policy as plain data: what a session may read, write and reach, which layers it wants and
/// which guarantees it needs. Nothing here touches the kernel; see plan.hpp.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

using contract::Error;
using contract::ErrorCode;
using contract::Json;
using contract::Result;

/// Reach of the network. AllowList reaches the policy's hosts, through a proxy in the server.
enum class Network { None, Loopback, AllowList, Full };

/// How much a layer is wanted: Required fails closed, Auto takes what is there, Off leaves it out.
enum class LayerMode { Auto, Required, Off };

/// What a policy promises, each held by one or more layers.
enum class Guarantee { FsWrite, Secrets, Network, Signals, Lifetime, KernelSurface };

/// Who the command runs as when bawn was started by root.
enum class RunAs {
  WorkspaceOwner,  ///< default: uid and gid of the workspace directory
  Root,            ///< uid 0 without capabilities, only when asked for
  Caller,          ///< whoever started bawn; the only choice for an ordinary user
};

/// Upper bounds for everything a session starts. Absent = the machine's own.
struct Limits {
  std::optional<std::uint64_t> processes;        ///< processes and threads in the session
  std::optional<std::uint64_t> memory_bytes;     ///< RLIMIT_DATA per process, bytes
  std::optional<std::uint64_t> file_size_bytes;  ///< RLIMIT_FSIZE, bytes
  std::optional<std::uint64_t> open_files;       ///< RLIMIT_NOFILE
  std::optional<std::uint64_t> tmp_bytes;        ///< size of the private /tmp, bytes
  /// Memory of the whole session (memory.max), bytes; needs a cgroup.
  std::optional<std::uint64_t> session_memory_bytes;
  /// CPU time of the whole session (cpu.max), in percent of one CPU; needs a cgroup.
  std::optional<std::uint64_t> cpu_percent;
};

struct Policy {
  std::string name;
  bool enforce = true;                       ///< false only for "unconfined"
  bool write_workspace = false;              ///< the workspace is writable
  std::vector<std::string> write;            ///< further writable roots, absolute
  std::vector<std::string> secrets;          ///< unreadable; "~/" is the home of the session's user
  std::vector<std::string> protected_names;  ///< relative to each writable root, kept read-only
  std::vector<std::string> env_allow;  ///< names (or prefix*) of environment variables that enter
  Network network = Network::None;
  /// With AllowList what may be reached: HOST, *.HOST, * (every public host), ADDRESS or
  /// ADDRESS/BITS, each with :PORTS (a comma list, FROM-TO, or *; without: 80 and 443). Addresses
  /// that are not public must be named as addresses. With Full: cloud metadata addresses that stay
  /// reachable.
  std::vector<std::string> hosts;
  /// Names that lead to a fixed ADDRESS or ADDRESS:PORT instead of what a resolver says; such an
  /// address counts as named.
  std::map<std::string, std::string> host_addresses;
  LayerMode landlock = LayerMode::Auto;
  LayerMode seccomp = LayerMode::Auto;
  LayerMode namespaces = LayerMode::Auto;
  LayerMode hygiene = LayerMode::Auto;
  LayerMode cgroup = LayerMode::Auto;
  std::vector<Guarantee> require;  ///< must be held by some layer, else the session is refused
  bool best_effort = false;        ///< start even so, and say so in every report
  RunAs run_as = RunAs::WorkspaceOwner;
  Limits limits;
};

/// The built-in policy of that name: read-only, workspace-write, workspace-net,
/// open-net, unconfined.
///
/// Errors: NotFound, naming the known ones and the nearest.
[[nodiscard]] Result<Policy> preset(std::string_view name);
[[nodiscard]] std::vector<std::string> preset_names();

/// The policy as JSON, stable member order.
[[nodiscard]] Json to_json(const Policy& policy);
/// Reads what to_json writes; unknown members are refused with the nearest known one named. A
/// member "extends" starts from that preset.
///
/// Errors: InvalidArgument with the member's path.
[[nodiscard]] Result<Policy> policy_from_json(const Json& json);
/// "sha256:<hex>" of the policy's canonical JSON; identifies it in every report.
[[nodiscard]] std::string policy_id(const Policy& policy);

[[nodiscard]] std::string_view to_string(Network network) noexcept;
[[nodiscard]] std::string_view to_string(LayerMode mode) noexcept;
[[nodiscard]] std::string_view to_string(Guarantee guarantee) noexcept;
[[nodiscard]] std::string_view to_string(RunAs run_as) noexcept;

}  // namespace bawn::sandbox
