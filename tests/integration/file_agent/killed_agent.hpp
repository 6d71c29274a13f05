/// \file
/// File agents that are killed at a chosen system call.
#pragma once

#include <functional>

namespace bawn::test {

/// Runs `action` in a thread of its own while this one follows the process `agent`, which waits for
/// a request, and kills it when it enters its system call number `at`, from 0. True when it was
/// killed before the action ended. For root only.
bool run_and_kill(int agent, int at, const std::function<void()>& action);

/// The agent that answered last: one that was killed may be its warden's child until it is reaped.
[[nodiscard]] int newest_agent(int warden);

}  // namespace bawn::test
