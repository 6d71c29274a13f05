#include "bawn/os/pidfd.hpp"

#include "bawn/os/procfs.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace bawn::os {

namespace {

// linux/pidfd.h of Linux 6.13; Debian 12's headers are older.
struct PidfdInfo {
  std::uint64_t mask = 0;
  std::uint64_t cgroupid = 0;
  std::uint32_t pid = 0;
  std::uint32_t tgid = 0;
  std::uint32_t ppid = 0;
  std::uint32_t ids[8] = {};
  std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

/// The line "Pid:" of the descriptor's fdinfo; 0 when the process is not visible from here, -1 when
/// it is gone.
int pid_from_fdinfo(int fd) {
  const auto text = read_proc_file(fmt::format("/proc/self/fdinfo/{}", fd));
  if (!text) {
    return -1;
  }
  constexpr std::string_view kKey = "Pid:";
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) {
    return -1;
  }
  const std::size_t digits = text->find_first_not_of(" \t", at + kKey.size());
  int pid = -1;
  if (digits != std::string::npos) {
    (void)std::from_chars(text->data() + digits, text->data() + text->size(), pid);
  }
  return pid;
}

}  // namespace

contract::Result<Pidfd> Pidfd::open(int pid) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.is_open()) {
    const int errnum = errno;
    if (errnum == ESRCH) {
      return contract::fail(contract::ErrorCode::NotFound, fmt::format("no process {}", pid));
    }
    return std::unexpected(contract::Error::from_errno(errnum, "pidfd_open",
                                                       fmt::format("cannot hold process {}", pid)));
  }
  return Pidfd(std::move(fd), pid);
}

contract::Result<Pidfd> Pidfd::adopt(UniqueFd fd) {
  PidfdInfo info;
  int pid = 0;
  if (::ioctl(fd.get(), kPidfdGetInfo, &info) == 0) {
    pid = static_cast<int>(info.tgid);
  } else {
    pid = pid_from_fdinfo(fd.get());
  }
  if (pid <= 0) {
    return contract::fail(contract::ErrorCode::NotFound,
                          "the process of a received pidfd has no number here");
  }
  return Pidfd(std::move(fd), pid);
}

bool Pidfd::exited() const noexcept {
  pollfd entry{fd_.get(), POLLIN, 0};
  return !fd_.is_open() || ::poll(&entry, 1, 0) != 0;
}

contract::Result<> Pidfd::signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0) != 0) {
    const int errnum = errno;
    if (errnum == ESRCH || !fd_.is_open()) {
      return contract::fail(contract::ErrorCode::NotFound,
                            fmt::format("process {} has ended", pid_));
    }
    return std::unexpected(contract::Error::from_errno(
        errnum, "pidfd_send_signal",
        fmt::format("cannot send signal {} to process {}", number, pid_)));
  }
  return {};
}

bool Pidfd::reap() const noexcept {
  siginfo_t info{};
  constexpr auto kPidfdType = static_cast<idtype_t>(3);  // P_PIDFD, Linux 5.4
  if (::waitid(kPidfdType, static_cast<id_t>(fd_.get()), &info, WEXITED | WNOHANG) != 0) {
    return errno != EINTR;
  }
  return info.si_pid != 0;
}

void Pidfd::wait() const noexcept {
  pollfd entry{fd_.get(), POLLIN, 0};
  while (fd_.is_open() && !reap()) {
    (void)::poll(&entry, 1, -1);
  }
}

}  // namespace bawn::os
