#include "relay.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

namespace {

unsigned char received[relay_wire::kMaxPayload];

bool read_exactly(void* buffer, std::size_t length) noexcept {
  auto* at = static_cast<unsigned char*>(buffer);
  while (length > 0) {
    const ssize_t count = read(kFromServer, at, length);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return false;
    }
    const std::size_t done = count > 0 ? static_cast<std::size_t>(count) : 0;
    at += done;
    length -= done;
  }
  return true;
}

}  // namespace

bool tell(Type type, std::uint32_t id, const void* first, std::size_t first_length,
          const void* second, std::size_t second_length) noexcept {
  wire::Header header = {static_cast<std::uint32_t>(type), id,
                         static_cast<std::uint32_t>(first_length + second_length)};
  iovec parts[3] = {{&header, sizeof header},
                    {const_cast<void*>(first), first_length},
                    {const_cast<void*>(second), second_length}};
  iovec* at = parts;
  iovec* const end = parts + 3;
  while (at < end) {
    const ssize_t count = writev(kToServer, at, static_cast<int>(end - at));
    if (count < 0 && errno != EINTR) {
      return false;
    }
    std::size_t done = count > 0 ? static_cast<std::size_t>(count) : 0;
    while (at < end && done >= at->iov_len) {
      done -= at->iov_len;
      ++at;
    }
    if (at < end) {
      at->iov_base = static_cast<unsigned char*>(at->iov_base) + done;
      at->iov_len -= done;
    }
  }
  return true;
}

bool tell_done(std::uint32_t request, int errnum, std::uint32_t value) noexcept {
  const std::uint32_t payload[2] = {static_cast<std::uint32_t>(errnum), value};
  return tell(Type::Done, request, payload, sizeof payload);
}

bool hear(wire::Header& header, const unsigned char*& payload) noexcept {
  payload = received;
  return read_exactly(&header, sizeof header) && header.length <= sizeof received &&
         read_exactly(received, header.length);
}

}  // namespace bawn::sandbox::warden::relay
