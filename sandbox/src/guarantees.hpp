/// \file
/// Which layers give which guarantee.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <string>

namespace bawn::sandbox {

/// The layers of a plan, as far as guarantees care.
struct LayersInForce {
  int landlock_abi = 0;
  bool seccomp = false;
  bool mounts = false;
  bool pid_namespace = false;
  bool network_namespace = false;
  bool hygiene = false;
};

[[nodiscard]] LayersInForce layers_of(const SessionPlan& plan) noexcept;

/// Whether a guarantee holds, and if not, why and what would give it.
struct GuaranteeState {
  bool held = false;
  std::string why;     ///< empty when held
  std::string remedy;  ///< empty when held
};

[[nodiscard]] GuaranteeState state_of(Guarantee guarantee, const Policy& policy,
                                      const LayersInForce& layers, const Place& place);

}  // namespace bawn::sandbox
