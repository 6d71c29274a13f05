// What every kind of warden does the same way unless it says otherwise.
#include "bawn/sandbox/warden.hpp"

#include "bawn/os/pidfd.hpp"
#include "bawn/os/procfs.hpp"

#include <time.h>
#include <unistd.h>

#include <utility>

namespace bawn::sandbox {

Result<> Child::resize(WindowSize /*size*/) {
  return contract::fail(ErrorCode::Unsupported, "the process has no terminal of its warden's");
}

std::uint64_t Warden::start_time_now() const noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * ticks +
         static_cast<std::uint64_t>(now.tv_nsec) * ticks / 1'000'000'000U;
}

std::vector<os::UniqueFd> Warden::watch(const std::vector<ProcessInfo>& processes) {
  std::vector<os::UniqueFd> held;
  for (const ProcessInfo& process : processes) {
    auto pidfd = os::Pidfd::open(process.pid);
    if (!pidfd) {
      continue;
    }
    // The number may have gone to another between list and open: the start time tells.
    const auto started = os::start_time(process.pid);
    if (started && *started == process.start_time) {
      held.push_back(std::move(*pidfd).release());
    }
  }
  return held;
}

}  // namespace bawn::sandbox
