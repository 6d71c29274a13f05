#include "input_feed.hpp"

#include "bawn/os/quiet_write.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace bawn::shell {

namespace {
constexpr char kEndOfFile = 4;  // ^D, the VEOF that a new terminal has
}

Result<std::shared_ptr<InputFeed>> InputFeed::make(End end) {
  const int inner = end.inner;
  auto feed =
      std::shared_ptr<InputFeed>(new InputFeed(std::move(end), BAWN_TRY(os::EventFd::make())));
  if (inner >= 0 && !feed->identify(inner)) {
    return std::unexpected(Error::from_errno(errno, "fstat", "cannot make the call's input"));
  }
  return feed;
}

bool InputFeed::identify(int inner) {
  struct stat status{};
  if (fstat(inner, &status) != 0) {
    return false;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

bool InputFeed::is_at(const std::string& path) const {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

InputFeed::InputFeed(End end, os::EventFd work)
    : write_(std::move(end.write)),
      held_(std::move(end.held)),
      work_(std::move(work)),
      terminal_(end.terminal) {}

void InputFeed::resize_by(std::function<Result<>(TerminalSize)> resize) {
  const std::lock_guard lock(mutex_);
  resize_ = std::move(resize);
}

Result<> InputFeed::write(std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (shut_ || ended_) {
      return contract::fail(ErrorCode::InvalidArgument,
                            shut_ ? "the call has ended and takes no more input"
                                  : "the call's input was ended before");
    }
    if (queue_.size() + bytes.size() > kMostWaiting) {
      return contract::fail(
          ErrorCode::ResourceExhausted,
          fmt::format("{} bytes of input wait already for a call that does not read them; at most "
                      "{} may, so nothing was taken",
                      queue_.size(), kMostWaiting));
    }
    queue_.append(bytes);
    work_->signal();
  }
  return {};
}

Result<> InputFeed::end() {
  if (terminal_) {
    return write({&kEndOfFile, 1});
  }
  {
    const std::lock_guard lock(mutex_);
    if (shut_) {
      return contract::fail(ErrorCode::InvalidArgument,
                            "the call has ended and takes no more input");
    }
    ended_ = true;
    work_->signal();
  }
  return {};
}

Result<> InputFeed::resize(TerminalSize size) {
  const std::lock_guard lock(mutex_);
  if (!terminal_) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "the call has no terminal whose size could change");
  }
  if (resize_ != nullptr) {
    return resize_(size);
  }
  const winsize wanted{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (shut_ || ioctl(write_.get(), TIOCSWINSZ, &wanted) != 0) {
    return contract::fail(ErrorCode::InvalidArgument, "the call has ended, and its terminal too");
  }
  return {};
}

void InputFeed::flush() {
  const std::lock_guard lock(mutex_);
  work_->clear();
  std::size_t sent = 0;
  while (sent < queue_.size() && write_.is_open()) {
    const long put = os::write_quietly(write_.get(), queue_.data() + sent, queue_.size() - sent);
    if (put < 0 && errno == EPIPE) {
      // Nobody reads it any more, which only an end that is not here can tell.
      queue_.clear();
      write_.reset();
      return;
    }
    if (put <= 0) {
      break;
    }
    sent += static_cast<std::size_t>(put);
  }
  queue_.erase(0, sent);
  if (ended_ && queue_.empty()) {
    write_.reset();
  }
}

int InputFeed::full_fd() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() || !write_.is_open() ? -1 : write_.get();
}

std::size_t InputFeed::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

bool InputFeed::consumed() const {
  const std::lock_guard lock(mutex_);
  int left = 0;
  // A terminal's outer end tells how much output waits, not how much input was read: only our own
  // queue is known there.
  if (!terminal_ && held_.is_open()) {
    ioctl(held_.get(), FIONREAD, &left);
  }
  return queue_.empty() && left == 0;
}

void InputFeed::shut() {
  const std::lock_guard lock(mutex_);
  shut_ = true;
  resize_ = nullptr;
  queue_.clear();
  write_.reset();
  held_.reset();
  work_.reset();
}

}  // namespace bawn::shell
