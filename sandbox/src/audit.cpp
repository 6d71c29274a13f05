#include "bawn/sandbox/audit.hpp"

#include "audit_record.hpp"
#include "bawn/os/unique_fd.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

namespace bawn::sandbox {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

Result<os::UniqueFd> netlink_socket() {
  os::UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_AUDIT));
  if (!fd.is_open()) {
    return errno == EPROTONOSUPPORT || errno == ECONNREFUSED
               ? fail(ErrorCode::Unsupported, "this kernel has no audit")
               : std::unexpected(Error::from_errno(errno, "socket", "cannot reach the audit"));
  }
  return fd;
}

Result<os::UniqueFd> join_stream() {
  os::UniqueFd fd = BAWN_TRY(netlink_socket());
  // Nobody reads while a call runs; what does not fit is lost and counted.
  const int room = 1 << 20;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = 1U << (AUDIT_NLGRP_READLOG - 1U);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return errno == EPERM ? fail(ErrorCode::PermissionDenied,
                                 "reading the kernel's audit records needs CAP_AUDIT_READ, which "
                                 "only root outside of user namespaces has")
                          : std::unexpected(Error::from_errno(
                                errno, "bind", "cannot read the kernel's audit records"));
  }
  return fd;
}

class NetlinkLog final : public AuditLog {
 public:
  explicit NetlinkLog(os::UniqueFd socket) : socket_(std::move(socket)) {}

  void follow(int pid) override {
    const std::scoped_lock lock(mutex_);
    events_.follow(pid);
  }

  std::vector<AuditDenial> denials(std::uint64_t after) override {
    const std::scoped_lock lock(mutex_);
    while (take_one()) {
    }
    return events_.after(after);
  }

  [[nodiscard]] std::uint64_t lost() const noexcept override {
    const std::scoped_lock lock(mutex_);
    return lost_;
  }

 private:
  bool take_one() {
    alignas(nlmsghdr) std::array<char, 16384> buffer;
    sockaddr_nl sender{};
    socklen_t length = sizeof sender;
    const ssize_t size = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&sender), &length);
    if (size < 0) {
      lost_ += errno == ENOBUFS ? 1 : 0;
      return errno == ENOBUFS || errno == EINTR;
    }
    nlmsghdr header{};
    // Port 0 is the kernel; the group is closed to other senders, and this does not rely on it.
    if (sender.nl_pid != 0 || static_cast<std::size_t>(size) < sizeof header) {
      return true;
    }
    std::memcpy(&header, buffer.data(), sizeof header);
    // The length of an audit message leaves its header out (kernel/audit.c), so the datagram
    // counts.
    events_.take(static_cast<AuditType>(header.nlmsg_type),
                 {buffer.data() + NLMSG_HDRLEN, static_cast<std::size_t>(size) - NLMSG_HDRLEN});
    return true;
  }

  mutable std::mutex mutex_;
  os::UniqueFd socket_;
  AuditEvents events_;
  std::uint64_t lost_ = 0;
};

/// nullopt: it may not be asked.
std::optional<bool> ask_enabled() {
  const auto fd = netlink_socket();
  if (!fd) {
    return std::nullopt;
  }
  nlmsghdr ask{};
  ask.nlmsg_len = NLMSG_HDRLEN;
  ask.nlmsg_type = AUDIT_GET;
  ask.nlmsg_flags = NLM_F_REQUEST;
  if (::send(fd->get(), &ask, sizeof ask, 0) != static_cast<ssize_t>(sizeof ask)) {
    return std::nullopt;
  }
  struct {
    nlmsghdr header;
    audit_status status;
  } answer{};
  // A thread of the kernel answers, mostly within a millisecond.
  constexpr int kPatienceMs = 2000;
  pollfd waiting = {fd->get(), POLLIN, 0};
  (void)::poll(&waiting, 1, kPatienceMs);
  const ssize_t size = ::recv(fd->get(), &answer, sizeof answer, MSG_DONTWAIT);
  const std::size_t needed = NLMSG_HDRLEN + offsetof(audit_status, failure);
  if (size < static_cast<ssize_t>(needed) || answer.header.nlmsg_type != AUDIT_GET) {
    return std::nullopt;
  }
  return answer.status.enabled != 0;
}

}  // namespace

contract::Json to_json(const AuditDenial& denial) {
  contract::Json json = {{"op", denial.op()}};
  if (!denial.path.empty()) {
    json["path"] = denial.path;
  }
  if (!denial.address.empty()) {
    json["address"] = denial.address;
  }
  if (denial.target_pid != 0) {
    json["target_pid"] = denial.target_pid;
  }
  json["layer"] = "landlock";
  json["rule"] = fmt::format("{}", fmt::join(denial.blockers, ", "));
  json["evidence"] = "audit";
  if (denial.pid != 0) {
    json["pid"] = denial.pid;
    json["exe"] = denial.program;
  }
  return json;
}

contract::Result<std::shared_ptr<AuditLog>> AuditLog::open() {
  return std::make_shared<NetlinkLog>(BAWN_TRY(join_stream()));
}

AuditState audit_state(int landlock_abi) {
  AuditState state;
  state.has_landlock = landlock_abi >= 7;
  const auto stream = join_stream();
  state.readable.available = stream.has_value();
  state.readable.reason = stream ? "" : stream.error().message();
  const auto enabled = ask_enabled();
  state.known = enabled.has_value();
  state.enabled = enabled.value_or(false);
  return state;
}

}  // namespace bawn::sandbox
