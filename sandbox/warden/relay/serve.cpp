#include "relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

mode_t given_umask = 0;

namespace {

constexpr long kLandlockCreateRuleset = 444;
constexpr unsigned kLandlockVersion = 1;
constexpr std::size_t kMaxPolled = 2 + kMaxSessions + kMaxChildren + kMaxStreams + kMaxWatched;

enum class Of : unsigned char { Server, Signals, Session, Child, Stream, Watch };

/// What one entry of the poll set is about, by number: the table may change meanwhile.
struct Meaning {
  Of of;
  std::uint32_t id;
};

pollfd polled[kMaxPolled];
Meaning meanings[kMaxPolled];
std::size_t polled_count = 0;

void add(int fd, short events, Of of, std::uint32_t id) noexcept {
  polled[polled_count] = {fd, events, 0};
  meanings[polled_count] = {of, id};
  ++polled_count;
}

void gather(int signals) noexcept {
  polled_count = 0;
  add(kFromServer, POLLIN, Of::Server, 0);
  add(signals, POLLIN, Of::Signals, 0);
  for (const Session& session : sessions) {
    if (session.id != 0 && session.stream >= 0) {
      add(session.stream, POLLIN, Of::Session, session.id);
    }
  }
  for (const Child& child : children) {
    if (child.id != 0 && child.go >= 0 && !child.placed) {
      add(child.go, POLLIN, Of::Child, child.id);
    }
  }
  for (const Stream& stream : streams) {
    if (const short events = stream.id != 0 ? stream_events(stream) : short{0}; events != 0) {
      add(stream.fd, events, Of::Stream, stream.id);
    }
  }
  for (const Watched& one : watched) {
    if (one.id != 0) {
      add(one.pidfd, POLLIN, Of::Watch, one.id);
    }
  }
}

std::uint32_t word(const unsigned char* payload, std::size_t at) noexcept {
  std::uint32_t value = 0;
  memcpy(&value, payload + at * sizeof value, sizeof value);
  return value;
}

bool ask_warden(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept {
  constexpr std::size_t kHead = 2 * sizeof(std::uint32_t);
  if (size < kHead) {
    return false;
  }
  const auto type = static_cast<wire::Type>(word(payload, 1));
  Session* const session = find_session(word(payload, 0));
  if ((type != wire::Type::Signal && type != wire::Type::Tree)) {
    return false;
  }
  // A session that is lost has no more answers; the server has heard, or hears, of that.
  if (session != nullptr && session->stream >= 0) {
    (void)send_frame(session->stream, type, request, payload + kHead, size - kHead, -1);
  }
  return true;
}

bool tell_unread(std::uint32_t request, std::uint32_t id) noexcept {
  const Stream* const stream = find_stream(id);
  return tell_done(request, stream == nullptr ? ENOENT : 0,
                   stream == nullptr ? 0 : unread_of(*stream));
}

/// False when the server is gone or talks nonsense.
bool handle(const wire::Header& header, const unsigned char* payload) noexcept {
  const std::uint32_t id = header.id;
  const std::size_t size = header.length;
  const auto words = [&](std::size_t count) { return size == count * sizeof(std::uint32_t); };
  switch (static_cast<Type>(header.type)) {
    case Type::OpenSession:
      return open_session(id, payload, size);
    case Type::CloseSession:
      return words(1) && close_session(id, word(payload, 0) != 0);
    case Type::Ask:
      return ask_warden(id, payload, size);
    case Type::Spawn:
      return spawn_child(id, payload, size);
    case Type::Go:
      return words(1) && let_go(id, word(payload, 0) != 0);
    case Type::Data:
      return take_data(id, payload, size);
    case Type::Credit:
      return words(1) && take_credit(id, word(payload, 0));
    case Type::End:
      return words(0) && take_end(id);
    case Type::Resize:
      return words(2) && resize(id, word(payload, 0), word(payload, 1));
    case Type::Unread:
      return words(1) && tell_unread(id, word(payload, 0));
    case Type::Directory:
      return make_directory(id, payload, size);
    case Type::Write:
      return write_file(id, payload, size);
    case Type::Fifo:
      return make_fifo(id, payload, size);
    case Type::Read:
      return read_file(id, payload, size);
    case Type::Remove:
      return remove_file(payload, size);
    case Type::RemoveDirectory:
      return remove_directory(payload, size);
    case Type::Watch:
      return watch(id, payload, size);
    case Type::Agent:
      return start_agent(id, payload, size);
    case Type::Attributes:
      return set_attributes(id, payload, size);
    case Type::Unwatch:
      unwatch(id);
      return words(0);
    default:
      return false;
  }
}

bool serve_server() noexcept {
  wire::Header header;
  const unsigned char* payload = nullptr;
  return hear(header, payload) && handle(header, payload);
}

/// SIGTERM is an engine's way to end a container. As its first process the relay takes it only from
/// outside (no number in here), since a command could send it too.
bool is_told_to_end(const signalfd_siginfo& info) noexcept {
  return info.ssi_signo == SIGTERM && (getpid() != 1 || info.ssi_pid == 0);
}

bool serve_signals(int fd) noexcept {
  signalfd_siginfo info = {};
  while (read(fd, &info, sizeof info) == sizeof info) {
    if (is_told_to_end(info)) {
      return false;
    }
  }
  return reap_stubs();
}

bool serve_child(std::uint32_t id) noexcept {
  for (Child& child : children) {
    if (child.id == id) {
      return hear_child(child);
    }
  }
  return true;
}

bool serve_one(std::size_t at, int signals) noexcept {
  const std::uint32_t id = meanings[at].id;
  switch (meanings[at].of) {
    case Of::Server:
      return serve_server();
    case Of::Signals:
      return serve_signals(signals);
    case Of::Session: {
      Session* const session = find_session(id);
      return session == nullptr || session->stream < 0 || hear_warden(*session);
    }
    case Of::Child:
      return serve_child(id);
    case Of::Stream: {
      Stream* const stream = find_stream(id);
      return stream == nullptr || stream->fd < 0 || serve_stream(*stream, polled[at].revents);
    }
    case Of::Watch:
      return watched_ended(id);
  }
  return true;
}

bool say_hello() noexcept {
  wire::Header header;
  const unsigned char* payload = nullptr;
  if (!hear(header, payload) || static_cast<Type>(header.type) != Type::Hello ||
      header.length < 2 * sizeof(std::uint32_t) || word(payload, 0) != relay_wire::kMagic) {
    return false;
  }
  // A server of another version is answered all the same: it has the better sentence.
  static unsigned char space[512];
  Packer out{space, sizeof space};
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  utsname system = {};
  uname(&system);
  const long abi = syscall(kLandlockCreateRuleset, nullptr, 0, kLandlockVersion);
  out.u32(relay_wire::kMagic);
  out.u32(relay_wire::kVersion);
  out.u32(static_cast<std::uint32_t>(getpid()));
  out.u32(geteuid());
  out.u32(getegid());
  out.u32(static_cast<std::uint32_t>(abi > 0 ? abi : 0));
  out.u64(static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
          static_cast<std::uint64_t>(now.tv_nsec));
  out.text(system.release, strlen(system.release));
  return tell(Type::Hello, 0, out.data, out.size) && word(payload, 1) == relay_wire::kVersion;
}

/// The server's pipes away from 0 and 1, and nothing else that came along. Every signal is blocked:
/// a main process of a container must not die of a stray one, and a broken pipe shows as EPIPE.
int prepare() noexcept {
  given_umask = umask(0);
  const int from = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 32);
  const int to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 32);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (from < 0 || to < 0 || null < 0 || dup3(null, STDIN_FILENO, O_CLOEXEC) < 0 ||
      dup3(null, STDOUT_FILENO, O_CLOEXEC) < 0 ||
      (null != kNullFd && dup3(null, kNullFd, O_CLOEXEC) < 0) ||
      dup3(from, kFromServer, O_CLOEXEC) < 0 || dup3(to, kToServer, O_CLOEXEC) < 0 ||
      syscall(SYS_close_range, kToServer + 1U, ~0U, 0U) != 0) {
    return -1;
  }
  sigset_t every;
  sigfillset(&every);
  sigset_t listened;
  sigemptyset(&listened);
  sigaddset(&listened, SIGCHLD);
  sigaddset(&listened, SIGTERM);
  if (sigprocmask(SIG_SETMASK, &every, nullptr) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return -1;
  }
  // What a killed stub leaves comes here and is collected.
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  return signalfd(-1, &listened, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

void run() noexcept {
  const int signals = prepare();
  if (signals < 0) {
    constexpr char kSentence[] = "bawn-warden --pipes: cannot arrange its descriptors\n";
    (void)!write(STDERR_FILENO, kSentence, sizeof kSentence - 1);
    _exit(1);
  }
  bool alive = say_hello();
  while (alive) {
    gather(signals);
    if (poll(polled, polled_count, -1) < 0) {
      alive = errno == EINTR;
      continue;
    }
    const std::size_t count = polled_count;
    for (std::size_t at = 0; at < count && alive; ++at) {
      alive = polled[at].revents == 0 || serve_one(at, signals);
    }
  }
  end_sessions();
  remove_directories();
  _exit(0);
}

}  // namespace bawn::sandbox::warden::relay
