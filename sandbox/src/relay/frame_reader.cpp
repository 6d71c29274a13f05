#include "frame_reader.hpp"

#include <cstring>

namespace bawn::sandbox {

namespace {

/// Hands over the frames at the front of `bytes` and takes them off; false when one is none.
bool take_whole(std::string_view& bytes, const std::function<bool(const RelayFrame&)>& take) {
  wire::Header header;
  while (bytes.size() >= sizeof header) {
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.length > relay_wire::kMaxPayload) {
      return false;
    }
    if (bytes.size() - sizeof header < header.length) {
      return true;
    }
    const RelayFrame frame{static_cast<relay_wire::Type>(header.type), header.id,
                           bytes.substr(sizeof header, header.length)};
    bytes.remove_prefix(sizeof header + header.length);
    if (!take(frame)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool FrameReader::feed(std::string_view bytes, const std::function<bool(const RelayFrame&)>& take) {
  if (buffer_.empty()) {
    // The usual case: nothing is copied that is whole.
    const bool sound = take_whole(bytes, take);
    buffer_.assign(bytes);
    return sound;
  }
  buffer_.append(bytes);
  std::string_view rest = buffer_;
  const bool sound = take_whole(rest, take);
  buffer_.erase(0, buffer_.size() - rest.size());
  return sound;
}

}  // namespace bawn::sandbox
