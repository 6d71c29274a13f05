/// \file
/// Frames out of the bytes of a relay, which may be hostile.
#pragma once

#include "relay_wire.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bawn::sandbox {

/// One frame; the payload lies in the reader's buffer.
struct RelayFrame {
  relay_wire::Type type{};
  std::uint32_t id = 0;
  std::string_view payload;
};

/// Threads: not thread-safe.
class FrameReader {
 public:
  /// Takes bytes in and hands over each complete frame. False once something is no frame (a payload
  /// above kMaxPayload) or `take` said false; then the stream is of no more use.
  [[nodiscard]] bool feed(std::string_view bytes,
                          const std::function<bool(const RelayFrame&)>& take);

 private:
  std::string buffer_;  // at most one frame that is not whole
};

}  // namespace bawn::sandbox
