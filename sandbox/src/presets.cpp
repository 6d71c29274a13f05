#include "bawn/sandbox/policy.hpp"
#include "default_lists.hpp"
#include "nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bawn::sandbox {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr std::uint64_t kGiB = 1ULL << 30;

Limits default_limits() {
  Limits limits;
  limits.processes = 1024;
  // Counts private writable memory, thread stacks included. Reservations without write permission
  // (V8, Go, sanitizers) are free, so unlike RLIMIT_AS this breaks no runtime.
  limits.memory_bytes = 2000 * kMiB;
  limits.file_size_bytes = 16 * kGiB;
  limits.open_files = 4096;
  limits.tmp_bytes = kGiB;
  limits.session_memory_bytes = 16 * kGiB;
  return limits;
}

Policy walled(std::string name, bool write_workspace, Network network) {
  Policy policy;
  policy.name = std::move(name);
  policy.write_workspace = write_workspace;
  policy.network = network;
  policy.secrets = default_secrets();
  policy.protected_names = default_protected_names();
  policy.env_allow = default_environment();
  policy.require = {Guarantee::FsWrite, Guarantee::Secrets, Guarantee::Signals, Guarantee::Lifetime,
                    Guarantee::KernelSurface};
  if (network != Network::Full) {
    policy.require.push_back(Guarantee::Network);
  } else {
    for (std::string& proxy : proxy_environment()) {
      policy.env_allow.push_back(std::move(proxy));
    }
  }
  policy.limits = default_limits();
  return policy;
}

Policy unconfined() {
  Policy policy;
  policy.name = "unconfined";
  policy.enforce = false;
  policy.write_workspace = true;
  policy.env_allow = {"*"};
  policy.network = Network::Full;
  policy.landlock = policy.seccomp = policy.namespaces = policy.hygiene = policy.cgroup =
      LayerMode::Off;
  policy.run_as = RunAs::Caller;
  return policy;
}

}  // namespace

std::vector<std::string> preset_names() {
  return {"read-only", "workspace-write", "workspace-net", "open-net", "unconfined"};
}

Result<Policy> preset(std::string_view name) {
  if (name == "read-only") {
    return walled("read-only", false, Network::None);
  }
  if (name == "workspace-write") {
    return walled("workspace-write", true, Network::None);
  }
  if (name == "open-net") {
    return walled("open-net", true, Network::Full);
  }
  if (name == "unconfined") {
    return unconfined();
  }
  if (name == "workspace-net") {
    return walled("workspace-net", true, Network::AllowList);
  }
  return contract::fail(
      ErrorCode::NotFound,
      fmt::format("there is no policy \"{}\"{}; known are {}", name,
                  did_you_mean(name, preset_names()), fmt::join(preset_names(), ", ")));
}

}  // namespace bawn::sandbox
