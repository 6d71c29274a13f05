/// \file
/// What really holds a container's main process, read from the kernel: engines accept limits that
/// they cannot keep (rootless ones on cgroup v1 say so on stderr and go on).
#pragma once

#include "bawn/container/place.hpp"

namespace bawn::container {

/// Reads /proc and the cgroup files of `pid`. What cannot be read counts as not held.
[[nodiscard]] PlaceFacts read_back(int pid);

/// The same as the engine tells it, of a container that this machine cannot look into. What it does
/// not say counts as not held.
[[nodiscard]] PlaceFacts facts_of(const Json& inspected);

/// Where a container that is not ours can be written, as the engine tells it; absolute.
[[nodiscard]] std::vector<std::string> writable_places_of(const Json& inspected);

/// What is not held of that, one sentence each.
[[nodiscard]] std::vector<std::string> name_missing(const PlaceFacts& facts, const PlaceSpec& spec,
                                                    bool rootless);

}  // namespace bawn::container
