#include "notification.hpp"

#include "small_file.hpp"

#include <fmt/format.h>

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace bawn::sandbox::net {
namespace {

/// The kernel wants as many bytes as it knows of, which may be more than this header has.
const seccomp_notif_sizes& sizes() {
  static const seccomp_notif_sizes known = [] {
    seccomp_notif_sizes asked{};
    (void)::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0U, &asked);
    asked.seccomp_notif =
        std::max(asked.seccomp_notif, static_cast<std::uint16_t>(sizeof(seccomp_notif)));
    asked.seccomp_notif_resp =
        std::max(asked.seccomp_notif_resp, static_cast<std::uint16_t>(sizeof(seccomp_notif_resp)));
    return asked;
  }();
  return known;
}

/// The process of a thread: pidfd_open(2) takes no thread before Linux 6.9.
int process_of(int thread) {
  const std::string status = read_small_file(fmt::format("/proc/{}/status", thread).c_str());
  const std::size_t at = status.find("\nTgid:");
  int process = -1;
  if (at != std::string::npos) {
    const char* begin = status.data() + at + 6;
    while (*begin == '\t' || *begin == ' ') {
      ++begin;
    }
    std::from_chars(begin, status.data() + status.size(), process);
  }
  return process;
}

void send(int listener, std::uint64_t id, int errnum, std::uint32_t flags) noexcept {
  alignas(seccomp_notif_resp) char space[256] = {};
  auto* const response = reinterpret_cast<seccomp_notif_resp*>(space);
  response->id = id;
  response->error = -errnum;
  response->flags = flags;
  // ENOENT: the caller was interrupted meanwhile and asks again, or is gone.
  (void)::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, response);
}

}  // namespace

std::optional<Notification> Notification::receive(std::shared_ptr<const os::UniqueFd> listener) {
  std::vector<char> space(sizes().seccomp_notif, '\0');
  auto* const raw = reinterpret_cast<seccomp_notif*>(space.data());
  if (::ioctl(listener->get(), SECCOMP_IOCTL_NOTIF_RECV, raw) != 0) {
    return std::nullopt;
  }
  Notification notification;
  notification.listener_ = std::move(listener);
  notification.id_ = raw->id;
  notification.thread_ = static_cast<int>(raw->pid);
  notification.call_ = raw->data.nr;
  std::copy_n(raw->data.args, 6, notification.arguments_);
  return notification;
}

bool Notification::is_waiting() const noexcept {
  std::uint64_t id = id_;
  return ::ioctl(listener_->get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

std::expected<os::UniqueFd, int> Notification::borrow(int fd) const {
  const int process = process_of(thread_);
  const os::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0U)));
  if (!pidfd.is_open()) {
    return std::unexpected(EPERM);
  }
  // While the caller waits its number cannot have been given to another.
  if (!is_waiting()) {
    return std::unexpected(ESRCH);
  }
  os::UniqueFd borrowed(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), fd, 0U)));
  if (!borrowed.is_open()) {
    return std::unexpected(errno == EBADF ? EBADF : EPERM);
  }
  return borrowed;
}

std::expected<SocketAddress, int> Notification::address(int pointer, int length) const {
  SocketAddress copied;
  const std::uint64_t size = arguments_[length] & 0xffffffffU;
  if (size > sizeof copied.storage) {
    return std::unexpected(EINVAL);
  }
  copied.size = static_cast<socklen_t>(size);
  iovec here{&copied.storage, copied.size};
  iovec there{reinterpret_cast<void*>(arguments_[pointer]), copied.size};
  if (size > 0 &&
      ::process_vm_readv(thread_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(copied.size)) {
    return std::unexpected(EFAULT);
  }
  return is_waiting() ? std::expected<SocketAddress, int>(copied) : std::unexpected(ESRCH);
}

void Notification::answer(int errnum) const noexcept {
  send(listener_->get(), id_, errnum, 0);
}

void Notification::let_through() const noexcept {
  send(listener_->get(), id_, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

}  // namespace bawn::sandbox::net
