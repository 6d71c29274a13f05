#include "stdio/line_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace bawn::mcp {

LineWriter::LineWriter(UniqueFd fd, std::size_t max_waiting_bytes)
    : fd_(std::move(fd)), limit_(max_waiting_bytes) {
  struct stat status{};
  const bool known = ::fstat(fd_.get(), &status) == 0;
  if (known && S_ISSOCK(status.st_mode)) {
    way_ = Way::Socket;
  } else if ((known && S_ISREG(status.st_mode)) ||
             (::fcntl(fd_.get(), F_GETFL) & O_NONBLOCK) != 0) {
    // A regular file always takes all of it.
    way_ = Way::Nonblocking;
  }
}

LineWriter::State LineWriter::send(std::string line) {
  const std::scoped_lock lock(mutex_);
  return push({.line = std::move(line), .key = {}});
}

LineWriter::State LineWriter::send_droppable(std::string_view key, std::string line) {
  const std::scoped_lock lock(mutex_);
  // The first line may be half written and must stay as it is.
  const auto first = queue_.begin() + (offset_ > 0 ? 1 : 0);
  const auto same =
      std::find_if(first, queue_.end(), [&](const Waiting& waiting) { return waiting.key == key; });
  if (same != queue_.end()) {
    bytes_ -= same->line.size();
    queue_.erase(same);
  }
  if (bytes_ + line.size() > limit_) {
    return State::Waiting;
  }
  return push({.line = std::move(line), .key = std::string(key)});
}

LineWriter::State LineWriter::flush() {
  const std::scoped_lock lock(mutex_);
  while (!queue_.empty()) {
    if (const State state = write_front(); state != State::Clear) {
      return state;
    }
  }
  return State::Clear;
}

void LineWriter::close() {
  const std::scoped_lock lock(mutex_);
  give_up();
}

bool LineWriter::full() const {
  const std::scoped_lock lock(mutex_);
  return bytes_ > limit_;
}

bool LineWriter::clear() const {
  const std::scoped_lock lock(mutex_);
  return queue_.empty();
}

LineWriter::State LineWriter::push(Waiting waiting) {
  if (broken_) {
    return State::Broken;
  }
  waiting.line += '\n';
  bytes_ += waiting.line.size();
  queue_.push_back(std::move(waiting));
  if (queue_.size() == 1) {
    return write_front();
  }
  if (bytes_ > limit_) {
    drop_droppable();
  }
  return State::Waiting;
}

LineWriter::State LineWriter::write_front() {
  const std::string& line = queue_.front().line;
  while (offset_ < line.size()) {
    const ssize_t written = write_some(std::string_view(line).substr(offset_));
    if (written >= 0) {
      offset_ += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      if (!grow_pipe(line.size() - offset_)) {
        return State::Waiting;
      }
    } else if (errno != EINTR) {
      return give_up();
    }
  }
  bytes_ -= line.size();
  offset_ = 0;
  queue_.pop_front();
  return State::Clear;
}

/// A megabyte through the usual 64 KiB is sixteen times waking the client. Refused for what is no
/// pipe, and beyond a user's share of pipe memory (pipe(7)); then it stays as it is.
bool LineWriter::grow_pipe(std::size_t waiting) {
  constexpr int kGrown = 1 << 20;
  constexpr std::size_t kWorthIt = std::size_t{256} << 10U;
  if (grown_ || way_ == Way::Socket || waiting < kWorthIt) {
    return false;
  }
  grown_ = true;
  return ::fcntl(fd_.get(), F_SETPIPE_SZ, kGrown) == kGrown;
}

LineWriter::State LineWriter::give_up() {
  broken_ = true;
  queue_.clear();
  offset_ = bytes_ = 0;
  return State::Broken;
}

void LineWriter::drop_droppable() {
  const auto first = queue_.begin() + (offset_ > 0 ? 1 : 0);
  const auto dropped = std::remove_if(first, queue_.end(), [&](const Waiting& waiting) {
    if (waiting.key.empty()) {
      return false;
    }
    bytes_ -= waiting.line.size();
    return true;
  });
  queue_.erase(dropped, queue_.end());
}

ssize_t LineWriter::write_some(std::string_view bytes) const {
  switch (way_) {
    case Way::Socket:
      return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Way::Nonblocking:
      return ::write(fd_.get(), bytes.data(), bytes.size());
    case Way::SmallChunks:
      break;
  }
  // A blocking pipe that polls writable has room for PIPE_BUF bytes at least (pipe(7)).
  pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(fd_.get(), bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

}  // namespace bawn::mcp
