/// \file
/// Questions that other plans ask the cgroup's.
#pragma once

#include "bawn/sandbox/plan.hpp"
#include "features_cgroup.hpp"

#include <string_view>

namespace bawn::sandbox {

/// The one setting that may be left out: a kernel without swap has no such file.
inline constexpr const char* kSwapLimit = "memory.swap.max";

/// True when the session's cgroup will have that limit.
[[nodiscard]] bool holds_setting(const CgroupPlan& plan, std::string_view file);

}  // namespace bawn::sandbox
