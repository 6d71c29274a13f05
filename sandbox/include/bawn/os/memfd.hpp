/// \file
/// Immutable bytes behind a descriptor.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <string_view>

namespace bawn::os {

/// A memory file holding `bytes`, sealed against every change, at offset 0, close-on-exec.
///
/// `name` is seen in /proc/PID/fd only.
/// Errors: ResourceExhausted, Internal.
/// Source: memfd_create(2) (Linux 3.17).
[[nodiscard]] contract::Result<UniqueFd> sealed_memfd(const char* name, std::string_view bytes);

}  // namespace bawn::os
