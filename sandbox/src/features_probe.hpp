/// \file
/// What `bawn-warden --probe` prints, as features.
#pragma once

#include "bawn/sandbox/features.hpp"

#include <string_view>

namespace bawn::sandbox {

/// Marks as unavailable what lines "NAME fail ERRNO STEP" name; "NAME ok" and unknown names change
/// nothing.
void apply_probe(KernelFeatures& features, std::string_view output);

}  // namespace bawn::sandbox
