/// \file
/// Every filter that a plan can have, compiled by libseccomp when bawn is built: compiling one
/// takes longer than all else that is planned. A filter depends on the conditions of its rules
/// only, so there are few. `filter_generator/` writes the source that defines them.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <cstdint>
#include <span>

namespace bawn::sandbox {

struct ReadyFilter {
  std::uint32_t conditions;  ///< as conditions_of() gives them
  std::span<const BpfInstruction> program;
};

/// For the architecture that this is built for.
[[nodiscard]] std::span<const ReadyFilter> ready_filters() noexcept;

}  // namespace bawn::sandbox
