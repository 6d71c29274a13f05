#include "procfs.hpp"

#include <string.h>

namespace bawn::sandbox::warden {

bool handle_tree(const Station& station, const wire::Header& header) noexcept {
  static unsigned char buffer[wire::kMaxPayload];
  Process* processes = nullptr;
  const std::size_t count = list_session(station, Look::All, processes);
  Packer out{buffer, sizeof buffer};
  out.u32(static_cast<std::uint32_t>(count));
  for (std::size_t at = 0; at < count; ++at) {
    const Process& process = processes[at];
    char call[kMaxCall + 1];
    find_call(station.proc, process.pid, call);
    out.u32(static_cast<std::uint32_t>(process.pid));
    out.u32(static_cast<std::uint32_t>(process.parent));
    out.u32(static_cast<std::uint32_t>(process.pgid));
    out.u32(static_cast<std::uint32_t>(process.sid));
    out.u64(process.start_time);
    out.u32(static_cast<unsigned char>(process.state));
    out.text(call, strlen(call));
    out.text(process.name, strlen(process.name));
  }
  return !out.full &&
         send_frame(station.stream, wire::Type::Listed, header.id, buffer, out.size, -1);
}

}  // namespace bawn::sandbox::warden
