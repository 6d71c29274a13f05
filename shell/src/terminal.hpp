/// \file
/// A pseudo terminal for one call.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/shell/session.hpp"

namespace bawn::shell {

/// Both ends of a new terminal in its usual (cooked, echoing) mode. `outer` does not block.
///
/// Source: pty(7). The inner end belongs to the host's devpts, so ttyname(3) finds no name for it
/// where the session has a /dev of its own.
struct Terminal {
  os::UniqueFd outer;
  os::UniqueFd inner;

  /// Errors: ResourceExhausted, Unsupported (no /dev/ptmx).
  static Result<Terminal> open(TerminalSize size);
};

}  // namespace bawn::shell
