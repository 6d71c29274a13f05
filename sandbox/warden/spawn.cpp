// Starting processes: one slot of memory per child that has not executed yet.
#include "spawn_child.hpp"
#include "warden.hpp"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace bawn::sandbox::warden {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStack = std::size_t{16} << 10U;
constexpr std::size_t kUsualPayload = std::size_t{32} << 10U;
constexpr std::size_t kMaxChildren = 4096;

struct Child {
  pid_t pid = 0;  ///< 0 = free
  std::uint32_t id = 0;
  Slot* slot = nullptr;  ///< null once it executed
  int exec_errno = 0;
  char call[kMaxCall + 1] = {};
};

// Zero pages until they are used.
Child children[kMaxChildren];
std::size_t children_end = 0;
Slot* free_slots = nullptr;
ChildLimit child_limits[kMaxChildLimits];
int child_limit_count = 0;

/// [guard page | stack | Slot, scratch, payload, pointers]. `payload` bytes of texts need at most
/// twice as many for the pointers to them: a text takes 8 bytes or more on the wire.
Slot* map_slot(std::size_t payload) noexcept {
  const std::size_t body = sizeof(Slot) + kScratch + 2 * payload + 64;
  const std::size_t size = (kPage + kStack + body + kPage - 1) & ~(kPage - 1);
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  auto* const base = static_cast<unsigned char*>(mapped);
  (void)mprotect(base, kPage, PROT_NONE);
  Slot* const slot = new (base + kPage + kStack) Slot;
  slot->size = size;
  slot->capacity = payload;
  slot->stack_top = base + kPage + kStack;
  slot->scratch = reinterpret_cast<char*>(slot + 1);
  slot->payload = reinterpret_cast<unsigned char*>(slot->scratch) + kScratch;
  return slot;
}

void release_slot(Slot* slot) noexcept {
  if (slot->capacity == kUsualPayload) {
    slot->next = free_slots;
    free_slots = slot;
    return;
  }
  munmap(slot->stack_top - kStack - kPage, slot->size);
}

/// Takes back the slots of children that have executed or ended; what a failed exec left in one is
/// kept beside its child.
void collect_slots() noexcept {
  for (std::size_t at = 0; at < children_end; ++at) {
    Child& child = children[at];
    if (child.slot != nullptr && child.slot->tid == 0) {
      child.exec_errno = child.slot->exec_errno;
      release_slot(child.slot);
      child.slot = nullptr;
    }
  }
}

Slot* take_slot(std::size_t payload) noexcept {
  collect_slots();
  if (payload > kUsualPayload) {
    return map_slot(payload);
  }
  if (free_slots == nullptr) {
    return map_slot(kUsualPayload);
  }
  Slot* const slot = free_slots;
  free_slots = slot->next;
  slot->tid = 0;
  slot->exec_errno = 0;
  return slot;
}

Child* find_child(pid_t pid) noexcept {
  for (std::size_t at = 0; at < children_end; ++at) {
    if (children[at].pid == pid) {
      return &children[at];
    }
  }
  return nullptr;
}

Child* take_child() noexcept {
  for (std::size_t at = 0; at < kMaxChildren; ++at) {
    if (children[at].pid == 0 && children[at].slot == nullptr) {
      children_end = at >= children_end ? at + 1 : children_end;
      return &children[at];
    }
  }
  return nullptr;
}

bool refuse(const Station& station, std::uint32_t id, Step step, int errnum) noexcept {
  const std::uint32_t payload[2] = {static_cast<std::uint32_t>(step),
                                    static_cast<std::uint32_t>(errnum)};
  return send_frame(station.stream, wire::Type::Refused, id, payload, sizeof payload, -1);
}

/// Reads past a payload that there is no room for.
bool skip_payload(int stream, std::size_t length) noexcept {
  static unsigned char waste[4096];
  while (length > 0) {
    const std::size_t part = length < sizeof waste ? length : sizeof waste;
    if (!receive_bytes(stream, waste, part)) {
      return false;
    }
    length -= part;
  }
  return true;
}

/// Texts as a vector of pointers, ended by null, at `into`; returns the place behind it.
char** read_words(wire::Reader& in, std::uint32_t count, char** into) noexcept {
  for (std::uint32_t at = 0; at < count; ++at) {
    *into++ = const_cast<char*>(in.text());
  }
  *into++ = nullptr;
  return into;
}

const char* path_of(char** env) noexcept {
  for (; *env != nullptr; ++env) {
    if (strncmp(*env, "PATH=", 5) == 0) {
      return *env + 5;
    }
  }
  return nullptr;
}

struct Order {
  std::uint32_t flags = 0;
  const char* cwd = "";
  const char* call = "";
  std::uint32_t writable_count = 0;
  wire::Reader writable;  ///< paths, with kReadOnly
};

/// Reads the request in the slot's payload; false when it is malformed.
bool read_order(Slot& slot, std::size_t length, Order& order) noexcept {
  constexpr std::size_t kSmallestText = 8;
  wire::Reader in(slot.payload, length);
  order.flags = in.u32();
  order.cwd = in.text();
  order.call = in.text();
  const std::uint32_t argc = in.count(kSmallestText);
  auto** pointers = reinterpret_cast<char**>(slot.payload + ((slot.capacity + 15U) & ~15UL));
  slot.argv = pointers + 1;
  pointers = read_words(in, argc, slot.argv);
  const std::uint32_t envc = in.count(kSmallestText);
  slot.env = pointers;
  (void)read_words(in, envc, pointers);
  if ((order.flags & wire::kReadOnly) != 0) {
    order.writable_count = in.count(kSmallestText);
    order.writable = in;
    for (std::uint32_t at = 0; at < order.writable_count; ++at) {
      (void)in.text();
    }
  }
  slot.path = path_of(slot.env);
  return in.finished() && argc > 0 && strlen(order.call) <= kMaxCall;
}

/// Deals out the received descriptors; false when they are not as the flags say.
bool read_descriptors(Slot& slot, std::uint32_t flags, const int (&fds)[wire::kMaxFds]) noexcept {
  std::size_t next = 0;
  const auto take = [&](bool given) { return given ? fds[next++] : kNullFd; };
  slot.input = take((flags & wire::kHasInput) != 0);
  slot.output = take((flags & wire::kHasOutput) != 0);
  slot.error = take((flags & wire::kHasError) != 0);
  slot.go = fds[next++];
  bool right =
      slot.go > kNullFd && slot.input >= kNullFd && slot.output >= kNullFd && slot.error >= kNullFd;
  for (; next < wire::kMaxFds; ++next) {
    right = right && fds[next] < 0;
  }
  return right;
}

/// clone without CLONE_VFORK: the child waits for go and the warden goes on. CLONE_VM makes it as
/// cheap as vfork. The warden keeps every signal blocked and handles none, so the child starts with
/// both so, and nothing can run on the shared stack of a handler.
pid_t start(Slot& slot, int& pidfd) noexcept {
  slot.tid = 1;
  const pid_t pid =
      clone(child_entry, slot.stack_top, CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD,
            &slot, &pidfd, nullptr, const_cast<int*>(&slot.tid));
  if (pid < 0) {
    slot.tid = 0;
  }
  return pid;
}

void fill(Slot& slot, const Station& station, const Order& order) noexcept {
  slot.cwd = order.cwd;
  slot.scope_ruleset = station.scope_ruleset;
  slot.listener_program = station.listener_program;
  slot.listener_length = station.listener_length;
  slot.new_session = (order.flags & wire::kNewSession) != 0;
  slot.terminal = (order.flags & wire::kTerminal) != 0;
  slot.die_with_warden = !station.own_pid_namespace;
  slot.limit_count = child_limit_count;
  memcpy(slot.limits, child_limits, sizeof child_limits);
}

bool start_child(const Station& station, std::uint32_t id, Slot* slot,
                 const Order& order) noexcept {
  Child* const child = take_child();
  if (child == nullptr) {
    release_slot(slot);
    return refuse(station, id, Step::Process, EAGAIN);
  }
  fill(*slot, station, order);
  slot->read_only_ruleset = -1;
  if ((order.flags & wire::kReadOnly) != 0) {
    const int ruleset =
        make_read_only_ruleset(station.landlock_abi, order.writable_count, order.writable);
    if (ruleset < 0) {
      release_slot(slot);
      return refuse(station, id, Step::LandlockRuleset, -ruleset);
    }
    slot->read_only_ruleset = ruleset;
  }
  int pidfd = -1;
  const pid_t pid = start(*slot, pidfd);
  const int clone_errno = errno;
  if (slot->read_only_ruleset >= 0) {
    close(slot->read_only_ruleset);  // the child has a table of descriptors of its own
  }
  if (pid < 0) {
    release_slot(slot);
    return refuse(station, id, Step::Process, clone_errno);
  }
  if (!slot->new_session) {
    // The child does it too: whoever comes first. After this a signal to the group reaches it.
    (void)setpgid(pid, pid);
  }
  child->pid = pid;
  child->id = id;
  child->slot = slot;
  child->exec_errno = 0;
  strcpy(child->call, order.call);
  const std::uint32_t payload[1] = {static_cast<std::uint32_t>(pid)};
  const bool sent =
      send_frame(station.stream, wire::Type::Spawned, id, payload, sizeof payload, pidfd);
  close(pidfd);
  return sent;
}

void put_usage(Packer& out, const rusage& usage) noexcept {
  const auto micros = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000U +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  out.u64(micros(usage.ru_utime));
  out.u64(micros(usage.ru_stime));
  out.u64(static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U);
}

bool report_exit(const Station& station, Child& child, int status, const rusage& usage) noexcept {
  collect_slots();  // its memory is released before it can be waited for
  unsigned char buffer[64];
  Packer out{buffer, sizeof buffer};
  out.u32(static_cast<std::uint32_t>(status));
  out.u32(static_cast<std::uint32_t>(child.exec_errno));
  put_usage(out, usage);
  child.pid = 0;
  return send_frame(station.stream, wire::Type::Exited, child.id, buffer, out.size, -1);
}

}  // namespace

void note_child_rlimit(int resource, std::uint64_t soft, std::uint64_t hard) noexcept {
  if (child_limit_count < kMaxChildLimits) {
    child_limits[child_limit_count++] = {resource, soft, hard};
  }
}

const char* call_of_child(pid_t pid) noexcept {
  const Child* const child = find_child(pid);
  return child != nullptr ? child->call : nullptr;
}

bool has_child_of_call(const char* call, pid_t except) noexcept {
  for (std::size_t at = 0; at < children_end; ++at) {
    const Child& child = children[at];
    if (child.pid != 0 && child.pid != except && strcmp(child.call, call) == 0) {
      return true;
    }
  }
  return false;
}

bool is_pending_child(pid_t pid) noexcept {
  const Child* const child = find_child(pid);
  return child != nullptr && child->slot != nullptr && child->slot->tid != 0;
}

bool handle_spawn(const Station& station, const wire::Header& header,
                  int (&fds)[wire::kMaxFds]) noexcept {
  Slot* const slot = take_slot(header.length);
  bool alive = true;
  if (slot == nullptr) {
    alive = skip_payload(station.stream, header.length) &&
            refuse(station, header.id, Step::Memory, ENOMEM);
  } else if (!receive_bytes(station.stream, slot->payload, header.length)) {
    alive = false;
  } else {
    Order order;
    if (read_order(*slot, header.length, order) && read_descriptors(*slot, order.flags, fds)) {
      alive = start_child(station, header.id, slot, order);
    } else {
      release_slot(slot);
      alive = refuse(station, header.id, Step::Request, EPROTO);
    }
  }
  for (const int fd : fds) {
    if (fd >= 0) {
      close(fd);
    }
  }
  return alive;
}

bool reap_children(const Station& station) noexcept {
  for (;;) {
    int status = 0;
    rusage usage = {};
    const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid <= 0) {
      return true;
    }
    forget_agent(pid);
    Child* const child = find_child(pid);
    if (child != nullptr && child->slot != nullptr) {
      child->slot->tid = 0;  // the kernel's own write does not reach every death
    }
    if (child != nullptr && !report_exit(station, *child, status, usage)) {
      return false;
    }
  }
}

}  // namespace bawn::sandbox::warden
