/// \file
/// What of cgroup v2 was handed to this process.
#pragma once

#include "bawn/sandbox/features.hpp"

#include <string>

namespace bawn::sandbox {

/// Below this name, in a delegated cgroup, bawn puts itself before it gives the cgroup's
/// controllers to sessions: a cgroup with both processes and controllers for those below it is not
/// allowed.
inline constexpr const char* kServerCgroup = "bawn-server";

/// What would hand one over; for a remedy.
inline constexpr const char* kDelegation =
    "a cgroup v2 of its own (systemd-run --user --scope -p Delegate=yes)";

/// Fills in the cgroup members of `features`, whose `kernel` is known. `root` stands before /proc,
/// /sys and /run: empty but in tests.
void look_at_cgroup(const std::string& root, KernelFeatures& features);

}  // namespace bawn::sandbox
