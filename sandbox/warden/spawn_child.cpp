#include "spawn_child.hpp"

#include "read_only_filter.hpp"
#include "syscalls.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

namespace bawn::sandbox::warden {

namespace {

constexpr long kLandlockRestrictSelf = 446;
constexpr int kGoFd = 3;
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

[[noreturn]] void leave(Slot& slot, long errnum) noexcept {
  slot.exec_errno = static_cast<int>(errnum);
  for (;;) {
    raw_call(SYS_exit_group, errnum == ENOENT ? 127 : 126);
  }
}

void check(Slot& slot, long result) noexcept {
  if (result < 0) {
    leave(slot, -result);
  }
}

/// glibc's and the kernel's own length of a signal set differ; this is the kernel's.
constexpr long kKernelSetSize = 8;

void unblock_signals() noexcept {
  const unsigned long none = 0;
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, raw_address(&none), 0, kKernelSetSize);
}

void apply_limits(Slot& slot) noexcept {
  for (int at = 0; at < slot.limit_count; ++at) {
    const std::uint64_t pair[2] = {slot.limits[at].soft, slot.limits[at].hard};
    check(slot, raw_call(SYS_prlimit64, 0, slot.limits[at].resource, raw_address(pair), 0));
  }
}

/// Sources are all above 3 (the warden keeps /dev/null there), so that no order can destroy one.
void arrange_descriptors(Slot& slot) noexcept {
  check(slot, raw_call(SYS_dup3, slot.input, 0, 0));
  check(slot, raw_call(SYS_dup3, slot.output, 1, 0));
  check(slot, raw_call(SYS_dup3, slot.error, 2, 0));
  check(slot, raw_call(SYS_dup3, slot.go, kGoFd, O_CLOEXEC));
  check(slot, raw_call(SYS_close_range, kGoFd + 1, ~0U, 0));
}

/// The layers of a call that may change nothing.
void restrict_to_reading(Slot& slot) noexcept {
  check(slot, raw_call(kLandlockRestrictSelf, slot.read_only_ruleset, 0));
  const sock_fprog program = {static_cast<unsigned short>(kReadOnlyFilter.size()),
                              const_cast<sock_filter*>(kReadOnlyFilter.data())};
  check(slot, raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, raw_address(&program)));
}

/// Asks the server about the calls that the program names, from here on; -1 when there is none. The
/// listener is nowhere but here: the warden must never wait for the server's word.
long install_listener(Slot& slot) noexcept {
  if (slot.listener_program == nullptr) {
    return -1;
  }
  const sock_fprog program = {
      static_cast<unsigned short>(slot.listener_length),
      reinterpret_cast<sock_filter*>(const_cast<unsigned char*>(slot.listener_program))};
  const long listener = raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                 SECCOMP_FILTER_FLAG_NEW_LISTENER, raw_address(&program));
  check(slot, listener);
  return listener;
}

/// The word about the working directory, with the listener unless it is negative.
void tell_server(std::int32_t errnum, long listener) noexcept {
  iovec part = {&errnum, sizeof errnum};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (listener >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* const header = reinterpret_cast<cmsghdr*>(control);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    *reinterpret_cast<int*>(CMSG_DATA(header)) = static_cast<int>(listener);
  }
  // Should the server be gone, the end of the socket is seen below.
  (void)raw_call(SYS_sendmsg, kGoFd, raw_address(&message), MSG_NOSIGNAL);
}

/// Enters the working directory and tells the server, which waits for it. Done here because a
/// directory on a dead mount blocks whoever enters it.
void enter_directory(Slot& slot, long listener) noexcept {
  const long result = raw_call(SYS_chdir, raw_address(slot.cwd));
  tell_server(static_cast<std::int32_t>(-result), listener);
  if (listener >= 0) {
    raw_call(SYS_close, listener);
  }
  check(slot, result);
}

/// The server holds the only other end: one byte is its word to go, the end of the pipe its death
/// or its change of mind.
void await_go(Slot& slot) noexcept {
  char byte = 0;
  long count = 0;
  do {
    count = raw_call(SYS_read, kGoFd, raw_address(&byte), 1);
  } while (count == -EINTR);
  if (count != 1) {
    leave(slot, ECANCELED);
  }
}

bool has_slash(const char* text) noexcept {
  for (; *text != '\0'; ++text) {
    if (*text == '/') {
      return true;
    }
  }
  return false;
}

/// execve, and for a file that the kernel has no loader for /bin/sh, as execvp(3) and every shell
/// do.
long execute(Slot& slot, const char* file) noexcept {
  const long env = raw_address(slot.env);
  const long result = raw_call(SYS_execve, raw_address(file), raw_address(slot.argv), env);
  if (result != -ENOEXEC) {
    return result;
  }
  char** const argv = slot.argv - 1;
  char* const first = slot.argv[0];
  argv[0] = const_cast<char*>("sh");
  argv[1] = const_cast<char*>(file);
  const long second = raw_call(SYS_execve, raw_address("/bin/sh"), raw_address(argv), env);
  slot.argv[0] = first;
  return second;
}

/// "DIR/NAME" in the slot's scratch memory; null when it does not fit.
const char* join(Slot& slot, const char* from, const char* to, const char* name) noexcept {
  std::size_t size = 0;
  for (; from < to; ++from) {
    if (size + 2 >= kScratch) {
      return nullptr;
    }
    slot.scratch[size++] = *from;
  }
  if (size == 0) {
    slot.scratch[size++] = '.';
  }
  slot.scratch[size++] = '/';
  for (; *name != '\0'; ++name) {
    if (size + 1 >= kScratch) {
      return nullptr;
    }
    slot.scratch[size++] = *name;
  }
  slot.scratch[size] = '\0';
  return slot.scratch;
}

bool goes_on(long error) noexcept {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ESTALE ||
         error == ENODEV || error == ETIMEDOUT || error == ENAMETOOLONG;
}

/// The search of execvp(3): EACCES is remembered and the search goes on.
long search(Slot& slot, const char* name) noexcept {
  const char* at = slot.path != nullptr ? slot.path : kDefaultPath;
  bool denied = false;
  for (;;) {
    const char* end = at;
    while (*end != ':' && *end != '\0') {
      ++end;
    }
    const char* const file = join(slot, at, end, name);
    const long error = file == nullptr ? ENAMETOOLONG : -execute(slot, file);
    if (!goes_on(error)) {
      return error;
    }
    denied = denied || error == EACCES;
    if (*end == '\0') {
      return denied ? EACCES : ENOENT;
    }
    at = end + 1;
  }
}

}  // namespace

int child_entry(void* argument) noexcept {
  Slot& slot = *static_cast<Slot*>(argument);
  if (slot.scope_ruleset >= 0) {
    check(slot, raw_call(kLandlockRestrictSelf, slot.scope_ruleset, 0));
  }
  if (slot.read_only_ruleset >= 0) {
    restrict_to_reading(slot);
  }
  if (slot.die_with_warden) {
    check(slot, raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL));
  }
  check(slot, slot.new_session ? raw_call(SYS_setsid) : raw_call(SYS_setpgid, 0, 0));
  arrange_descriptors(slot);
  if (slot.terminal) {
    check(slot, raw_call(SYS_ioctl, 0, TIOCSCTTY, 0));
  }
  const long listener = install_listener(slot);
  enter_directory(slot, listener);
  apply_limits(slot);
  await_go(slot);
  unblock_signals();
  const char* const name = slot.argv[0];
  if (name[0] == '\0') {
    leave(slot, ENOENT);
  }
  const long error = has_slash(name) ? -execute(slot, name) : search(slot, name);
  // Who waits for the end of the socket to know that it executed gets the reason instead.
  tell_server(static_cast<std::int32_t>(error), -1);
  leave(slot, error);
}

}  // namespace bawn::sandbox::warden
