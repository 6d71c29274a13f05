/// \file
/// Times of files as futimens(2) takes them. Free of the C++ library, as wire.hpp.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace bawn::sandbox {

/// Sets the last change alone, ns since 1970. 0, or -1 with errno.
inline int set_last_change(int file, std::int64_t mtime_ns) noexcept {
  constexpr std::int64_t kSecond = 1000000000;
  // Before 1970 the rest still counts forwards.
  const std::int64_t rest = (mtime_ns % kSecond + kSecond) % kSecond;
  const timespec times[2] = {{0, UTIME_OMIT}, {(mtime_ns - rest) / kSecond, rest}};
  return futimens(file, times);
}

}  // namespace bawn::sandbox
