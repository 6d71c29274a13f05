#include "seccomp_ready.hpp"
#include "seccomp_rules.hpp"

#include <algorithm>

namespace bawn::sandbox {

Result<SeccompPlan> plan_seccomp(const Policy& policy, const SeccompSituation& situation) {
  SeccompPlan plan;
  if (!policy.enforce || policy.seccomp == LayerMode::Off) {
    return plan;
  }
  const auto ready = ready_filters();
  const auto found =
      std::ranges::find(ready, conditions_of(policy, situation), &ReadyFilter::conditions);
  if (found == ready.end()) {
    return contract::fail(ErrorCode::Internal, "no seccomp filter was compiled for this case");
  }
  plan.program.assign(found->program.begin(), found->program.end());
  plan.apply = true;
  plan.missing.emplace_back("openat2 can create a setuid file: its mode is behind a pointer");
  return plan;
}

}  // namespace bawn::sandbox
