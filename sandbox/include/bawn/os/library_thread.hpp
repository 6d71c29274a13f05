/// \file
/// Threads of the library's own, deaf to signals.
#pragma once

#include "bawn/contract/error.hpp"

#include <functional>
#include <thread>

namespace bawn::os {

/// Starts `body` on a thread that blocks every signal; its owner joins it.
///
/// Errors: ResourceExhausted (no thread can be made).
[[nodiscard]] contract::Result<std::thread> joinable_library_thread(std::function<void()> body);

/// Starts `body` on a detached thread that blocks every signal, so that the program's handlers run
/// on its own threads only. What `body` uses must outlive it, which nobody can wait for: it owns
/// that, or says itself when it is done.
///
/// Errors: ResourceExhausted (no thread can be made).
[[nodiscard]] contract::Result<> start_library_thread(std::function<void()> body);

}  // namespace bawn::os
