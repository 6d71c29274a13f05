/// \file
/// Waiting for descriptors under a Context, without polling intervals.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"

#include <poll.h>

#include <span>

namespace bawn::os {

/// Blocks until one of `fds` has an event and returns how many have; `revents` are set.
///
/// Blocking: until an event, the context's deadline, or its cancellation (through an eventfd that a
/// stop_callback writes).
/// Errors: Cancelled, Closed (the context ended as closed), DeadlineExceeded, Internal.
/// Threads: thread-safe. Source: poll(2).
[[nodiscard]] contract::Result<int> wait_events(std::span<pollfd> fds,
                                                const contract::Context& context);

/// Blocks until `fd` is readable, hung up or broken. Errors and blocking as wait_events.
[[nodiscard]] contract::Result<> wait_readable(int fd, const contract::Context& context);

}  // namespace bawn::os
