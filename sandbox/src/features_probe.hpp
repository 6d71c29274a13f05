/// \file
/// What `bawn-warden --probe` and `--try-landlock` print.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/sandbox/features.hpp"

#include <string>
#include <string_view>

namespace bawn::sandbox {

/// Marks as unavailable what lines "NAME fail ERRNO STEP" name; "NAME ok" and unknown names change
/// nothing.
void apply_probe(KernelFeatures& features, std::string_view output);

/// What `bawn-warden QUESTION` prints, until it ends.
///
/// Blocking: some milliseconds. Errors: os::spawn()'s, and NotFound when there is no such program.
[[nodiscard]] contract::Result<std::string> ask_probe_program(const std::string& question);

}  // namespace bawn::sandbox
