#include "warden_link.hpp"

#include "bawn/os/poll.hpp"
#include "wire_encode.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <utility>

namespace bawn::sandbox {

namespace {

constexpr std::chrono::seconds kStartLimit{30};

wire::Reader reader_of(const Frame& frame) {
  return {reinterpret_cast<const unsigned char*>(frame.payload.data()), frame.payload.size()};
}

}  // namespace

Error refusal(const Frame& frame) {
  wire::Reader in = reader_of(frame);
  const auto step = static_cast<wire::Step>(in.u32());
  const int errnum = in.i32();
  return Error::from_errno(errnum, "warden",
                           fmt::format("the session's warden failed at {}", wire::to_text(step)));
}

ExitStatus exit_status(const Frame& frame) {
  wire::Reader in = reader_of(frame);
  const int status = in.i32();
  ExitStatus result;
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.core_dumped = WCOREDUMP(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  result.exec_errno = in.i32();
  result.user_us = in.u64();
  result.system_us = in.u64();
  result.peak_rss_bytes = in.u64();
  return result;
}

int ExitStatus::shell_code() const noexcept {
  return signal ? 128 + *signal : code.value_or(0);
}

void ChildState::end(ExitStatus status) {
  {
    const std::scoped_lock lock(mutex_);
    status_ = status;
  }
  event_.signal();
}

void ChildState::lose() {
  {
    const std::scoped_lock lock(mutex_);
    lost_ = true;
  }
  event_.signal();
}

std::optional<ExitStatus> ChildState::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

bool ChildState::lost() const {
  const std::scoped_lock lock(mutex_);
  return lost_;
}

void WardenLink::take_pending() {
  if (alive() && !on_readable()) {
    lose();
  }
}

void WardenLink::await(std::unique_lock<std::mutex>& lock, Waiter& waiter) {
  const auto done = [&] { return waiter.answer || lost_; };
  if (!by_waiting_) {
    (void)waiter.changed.wait_for(lock, limit_, done);
    return;
  }
  const auto context = contract::Context().with_deadline(contract::Context::Clock::now() + limit_);
  while (!done()) {
    lock.unlock();
    const bool came = os::wait_readable(stream_.get(), context).has_value();
    if (came) {
      take_pending();
    }
    lock.lock();
    if (!came) {
      return;
    }
  }
}

Result<Frame> WardenLink::exchange(wire::Type type, std::uint32_t id, Waiter& waiter,
                                   std::string_view payload, std::span<const int> fds) {
  auto sent = stream_.send(type, id, payload, fds);
  std::unique_lock lock(mutex_);
  if (sent) {
    await(lock, waiter);
  }
  waiters_.erase(id);
  if (sent && !waiter.answer && !lost_) {
    return contract::fail(ErrorCode::DeadlineExceeded,
                          fmt::format("the session's warden did not answer within {} ms; close the "
                                      "session",
                                      limit_.count()));
  }
  if (!waiter.answer) {
    return contract::fail(ErrorCode::Closed, "the session's warden is gone");
  }
  if (waiter.answer->type == wire::Type::Refused) {
    return std::unexpected(refusal(*waiter.answer));
  }
  return std::move(*waiter.answer);
}

Result<Frame> WardenLink::ask(wire::Type type, std::string_view payload, std::span<const int> fds) {
  Waiter waiter;
  std::uint32_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    id = next_id_++;
    waiters_.emplace(id, &waiter);
  }
  return exchange(type, id, waiter, payload, fds);
}

Result<Frame> WardenLink::ask_spawn(std::string_view payload, std::span<const int> fds,
                                    std::shared_ptr<ChildState> child) {
  Waiter waiter;
  std::uint32_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    id = next_id_++;
    waiters_.emplace(id, &waiter);
    children_.emplace(id, std::move(child));
  }
  auto answer = exchange(wire::Type::Spawn, id, waiter, payload, fds);
  if (!answer) {
    const std::scoped_lock lock(mutex_);
    children_.erase(id);
  }
  return answer;
}

Result<Frame> WardenLink::first_frame() {
  const auto context =
      contract::Context().with_deadline(contract::Context::Clock::now() + kStartLimit);
  std::optional<Frame> first;
  while (!first) {
    BAWN_TRY(os::wait_readable(stream_.get(), context));
    const bool open = stream_.pump([&](Frame&& frame) { first = std::move(frame); });
    if (!open && !first) {
      return contract::fail(ErrorCode::Internal, "the session's warden ended before it was ready");
    }
  }
  return std::move(*first);
}

bool WardenLink::on_readable() {
  return stream_.pump([this](Frame&& frame) { take(std::move(frame)); });
}

void WardenLink::take(Frame&& frame) {
  if (frame.type == wire::Type::Exited) {
    take_exit(frame);
    return;
  }
  const std::scoped_lock lock(mutex_);
  const auto found = waiters_.find(frame.id);
  if (found != waiters_.end()) {
    // Under the lock: the waiter lives on a stack that unwinds once it has its answer.
    found->second->answer = std::move(frame);
    found->second->changed.notify_one();
  }
}

void WardenLink::take_exit(const Frame& frame) {
  std::shared_ptr<ChildState> child;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = children_.find(frame.id);
    if (found == children_.end()) {
      return;
    }
    child = std::move(found->second);
    children_.erase(found);
  }
  child->end(exit_status(frame));
}

void WardenLink::lose() {
  std::map<std::uint32_t, std::shared_ptr<ChildState>> children;
  {
    const std::scoped_lock lock(mutex_);
    lost_ = true;
    children.swap(children_);
    for (const auto& [id, waiter] : waiters_) {
      waiter->changed.notify_one();
    }
  }
  for (const auto& [id, child] : children) {
    child->lose();
  }
}

bool WardenLink::alive() const {
  const std::scoped_lock lock(mutex_);
  return !lost_;
}

}  // namespace bawn::sandbox
