/// \file
/// Getting hold of the client's two descriptors so that nothing else in the process can use them.
#pragma once

#include "bawn/contract/error.hpp"
#include "unique_fd.hpp"

namespace bawn::mcp {

struct Streams {
  UniqueFd in;
  UniqueFd out;  ///< non-blocking where that is possible without changing the client's description
};

/// Duplicates both, close-on-exec and above the standard three. With `take_standard_streams`,
/// descriptor 0 then is /dev/null and 1 a copy of 2 (or /dev/null when 2 is closed).
///
/// Errors: InvalidArgument when one is not open; a system call's error otherwise.
[[nodiscard]] contract::Result<Streams> open_streams(int in_fd, int out_fd,
                                                     bool take_standard_streams);

}  // namespace bawn::mcp
