#include "pump.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace bawn::shell {

namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr std::size_t kFirstPipe = 64 * 1024;
constexpr int kGrownPipe = 1024 * 1024;
constexpr int kLastReads = 8;

char* chunk() {
  thread_local const std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(kChunk);
  return bytes.get();
}

/// Bytes read, 0 at the end of the stream, -1 when there is nothing now.
ssize_t take_chunk(CallRecord& call, Stream stream, int fd) {
  const ssize_t got = read(fd, chunk(), kChunk);
  if (got <= 0) {
    // EIO is a terminal's way to say that its last user is gone.
    return got < 0 && errno == EINTR ? take_chunk(call, stream, fd)
           : got < 0 && errno == EIO ? 0
                                     : got;
  }
  call.append(stream, {chunk(), static_cast<std::size_t>(got)});
  if (static_cast<std::size_t>(got) == kFirstPipe) {
    // Full: a larger pipe means fewer switches. Refused beyond the user's share of pipe pages
    // (pipe(7), fs.pipe-user-pages-soft), which costs only speed.
    fcntl(fd, F_SETPIPE_SZ, kGrownPipe);
  }
  return got;
}

timespec until_then(Pump::Clock::time_point then) {
  const auto left = std::max(then - Pump::Clock::now(), Pump::Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {.tv_sec = static_cast<time_t>(seconds.count()),
          .tv_nsec = static_cast<long>(std::chrono::nanoseconds(left - seconds).count())};
}

}  // namespace

Pump::Pump(CallPtr call, int out, int err, int exit_fd, ReportChannel* reports, std::string nonce)
    : call_(std::move(call)),
      out_(out),
      err_(err),
      exit_fd_(exit_fd),
      reports_(reports),
      nonce_(std::move(nonce)) {}

bool Pump::read_some(Stream stream) {
  int& fd = stream == Stream::Out ? out_ : err_;
  const ssize_t got = take_chunk(*call_, stream, fd);
  if (got == 0) {
    fd = -1;  // poll(2) skips it from now on
  }
  return got > 0;
}

void Pump::drain_stream(Stream stream) {
  const int fd = stream == Stream::Out ? out_ : err_;
  int waiting = 0;
  if (fd < 0 || ioctl(fd, FIONREAD, &waiting) != 0) {
    return;
  }
  // Only what is there at this moment: a background job may go on writing for ever.
  while (waiting > 0) {
    const ssize_t got = take_chunk(*call_, stream, fd);
    if (got <= 0) {
      return;
    }
    waiting -= static_cast<int>(got);
  }
}

Pump::Events Pump::wait(std::optional<Clock::time_point> until, std::span<const int> extra) {
  // Once the report is there, what else is in its FIFO is junk and must not keep us awake.
  std::vector<pollfd> waiting{{reports_ == nullptr || report_ ? -1 : reports_->fd(), POLLIN, 0},
                              {exit_seen_ ? -1 : exit_fd_, POLLIN, 0},
                              {wake_seen_ ? -1 : call_->wake_fd(), POLLIN, 0},
                              {out_, POLLIN, 0},
                              {err_, POLLIN, 0}};
  for (const int fd : extra) {
    waiting.push_back({fd, POLLIN, 0});
  }
  const std::size_t inputs = waiting.size();
  InputFeed* const feed = call_->input();
  if (feed != nullptr) {
    waiting.push_back({feed->work_fd(), POLLIN, 0});
    waiting.push_back({-1, POLLOUT, 0});
  }
  Events events;
  for (;;) {
    if (feed != nullptr) {
      waiting[inputs + 1].fd = feed->full_fd();
    }
    timespec left{};
    if (until) {
      left = until_then(*until);
    }
    const int ready = ppoll(waiting.data(), waiting.size(), until ? &left : nullptr, nullptr);
    if (ready == 0) {
      return events;
    }
    if (ready < 0) {
      continue;
    }
    if (waiting[0].revents != 0) {
      report_ = reports_->take(nonce_);
      events.reported = report_.has_value();
    }
    events.exited = waiting[1].revents != 0;
    exit_seen_ = exit_seen_ || events.exited;
    events.woken = waiting[2].revents != 0;
    wake_seen_ = wake_seen_ || events.woken;
    bool moved = false;
    if (waiting[3].revents != 0) {
      moved = read_some(Stream::Out);
      waiting[3].fd = out_;
    }
    if (waiting[4].revents != 0) {
      moved = read_some(Stream::Err) || moved;
      waiting[4].fd = err_;
    }
    bool other = false;
    if (feed != nullptr && (waiting[inputs].revents != 0 || waiting[inputs + 1].revents != 0)) {
      feed->flush();
    }
    for (std::size_t i = 5; i < inputs; ++i) {
      other = other || waiting[i].revents != 0;
    }
    const bool late = until && Clock::now() >= *until;  // junk may come faster than ppoll expires
    if (events.reported || events.exited || events.woken || other || moved || late) {
      return events;
    }
  }
}

void Pump::drain() {
  drain_stream(Stream::Out);
  drain_stream(Stream::Err);
}

bool at_end(CallRecord& call, Stream stream, int fd) {
  for (int i = 0; i < kLastReads; ++i) {
    const ssize_t got = take_chunk(call, stream, fd);
    if (got <= 0) {
      return got == 0;
    }
  }
  return false;
}

}  // namespace bawn::shell
