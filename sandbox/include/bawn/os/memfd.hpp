/// \file
/// Bytes in memory behind a descriptor.
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

/// An empty memory file, open for reading and writing, close-on-exec.
///
/// Errors and source: as sealed_memfd.
[[nodiscard]] contract::Result<UniqueFd> memfd(const char* name);
/// Makes it one that sealed_memfd gives, but for the offset. Errors: Internal.
[[nodiscard]] contract::Result<> seal(const UniqueFd& memfd);

}  // namespace bawn::os
