#include "bawn/sandbox/plan.hpp"
#include "kernel_abi.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

namespace bawn::sandbox {
namespace {

/// Asks the listener about some calls and lets all others pass. Foreign architectures never come
/// here: the session's own filter, which is in force as well, ends them.
std::vector<BpfInstruction> listener_program(const std::vector<int>& calls) {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  std::vector<BpfInstruction> program = {{kLoad, 0, 0, offsetof(seccomp_data, nr)}};
  for (std::size_t at = 0; at < calls.size(); ++at) {
    const auto to_notify = static_cast<std::uint8_t>(calls.size() - at);
    program.push_back({kEqual, to_notify, 0, static_cast<std::uint32_t>(calls[at])});
  }
  program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  program.push_back({kReturn, 0, 0, SECCOMP_RET_USER_NOTIF});
  return program;
}

std::string supervisor_blocker(const Policy& policy, const KernelFeatures& features) {
  if (policy.seccomp == LayerMode::Off) {
    return "the policy switches seccomp off";
  }
  return features.seccomp_notify.available ? std::string() : features.seccomp_notify.reason;
}

}  // namespace

NetworkPlan plan_network(const Policy& policy, const KernelFeatures& features,
                         bool with_network_namespace) {
  NetworkPlan plan;
  if (!policy.enforce ||
      (policy.network != Network::AllowList && policy.network != Network::Full)) {
    return plan;
  }
  plan.hosts = policy.hosts;
  plan.host_addresses = policy.host_addresses;
  if (policy.network == Network::AllowList && with_network_namespace) {
    plan.proxy = plan.inside = true;
    return plan;
  }
  plan.blocker = supervisor_blocker(policy, features);
  if (!plan.blocker.empty()) {
    return plan;
  }
  plan.supervise = true;
  plan.proxy = plan.sockets_inside = policy.network == Network::AllowList;
  plan.program =
      listener_program(plan.sockets_inside ? std::vector<int>{SYS_connect, SYS_bind, SYS_listen}
                                           : std::vector<int>{SYS_connect});
  return plan;
}

}  // namespace bawn::sandbox
