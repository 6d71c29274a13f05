/// \file
/// Writing to a pipe whose reader may be gone, from any thread.
#pragma once

#include <cstddef>

namespace bawn::os {

/// write(2) without SIGPIPE, whatever the calling thread's mask is: EPIPE is an error like others.
///
/// Source: write(2), pthread_sigmask(3); the signal of a write is the writing thread's own.
[[nodiscard]] long write_quietly(int fd, const char* bytes, std::size_t size) noexcept;

}  // namespace bawn::os
