/// \file
/// Which extended attributes a file's successor may have. Free of the C++ library, as wire.hpp: the
/// server, the file agent and the relay all ask.
#pragma once

#include <string.h>

namespace bawn::sandbox {

/// Not security.* (capabilities, labels), which a write takes away as well or the kernel sets anew.
[[nodiscard]] inline bool is_kept_attribute(const char* name) noexcept {
  return strncmp(name, "user.", 5) == 0 || strcmp(name, "system.posix_acl_access") == 0;
}

/// What the kernel sets anew by itself, so that it is no loss.
[[nodiscard]] inline bool is_kernels_attribute(const char* name) noexcept {
  return strcmp(name, "security.selinux") == 0 || strcmp(name, "security.ima") == 0 ||
         strcmp(name, "security.evm") == 0;
}

}  // namespace bawn::sandbox
