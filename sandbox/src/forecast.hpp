/// \file
/// What a plan will be able to say about itself once the warden has confirmed it.
#pragma once

#include "bawn/sandbox/plan.hpp"

namespace bawn::sandbox {

/// The report that the plan leads to if every step of it works.
[[nodiscard]] contract::Confinement make_forecast(const Policy& policy,
                                                  const KernelFeatures& features,
                                                  const SessionPlan& plan, const Place& place);

}  // namespace bawn::sandbox
