#include "client/tool_list.hpp"

#include "client/channel.hpp"

#include <system_error>
#include <utility>

namespace bawn::mcp {

using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

ToolList::ToolList(Lister lister, std::function<void(const Error&)> on_error)
    : lister_(std::move(lister)), on_error_(std::move(on_error)), source_(Context()) {}

ToolList::~ToolList() {
  close();
}

Result<ListedToolsPtr> ToolList::refresh(const Context& context) {
  std::uint64_t target = 0;
  {
    const std::scoped_lock lock(mutex_);
    target = wanted_;
  }
  const auto listed = lister_(context);
  const std::scoped_lock lock(mutex_);
  if (!listed) {
    return std::unexpected(listed.error());
  }
  land(target, listed);
  return tools_;
}

Result<ListedToolsPtr> ToolList::await(const Context& context) {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = wanted_;
  changed_.wait(lock, context.stop_token(), [&] { return closed_ || landed_ >= target; });
  if (landed_ < target) {
    return closed_ ? fail(ErrorCode::Closed, kClosed)
                   : fail(ErrorCode::Cancelled, "waiting for the list of tools was cancelled");
  }
  if (error_) {
    return std::unexpected(*error_);
  }
  return tools_;
}

ListedToolsPtr ToolList::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return tools_;
}

void ToolList::changed() {
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) {
      return;
    }
    ++wanted_;
    if (!thread_.joinable()) {
      try {
        thread_ = std::thread([this] { run(); });
      } catch (const std::system_error&) {
        error_ = Error(ErrorCode::ResourceExhausted, "no thread could be started");
        landed_ = wanted_;
      }
    }
  }
  changed_.notify_all();
}

std::uint64_t ToolList::seen() const {
  const std::scoped_lock lock(mutex_);
  return wanted_;
}

void ToolList::settle(const Context& context, std::uint64_t seen, std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, context.stop_token(), Clock::now() + grace,
                      [&] { return closed_ || wanted_ > seen; });
  const std::uint64_t target = wanted_;
  if (target > seen) {
    changed_.wait(lock, context.stop_token(), [&] { return closed_ || landed_ >= target; });
  }
}

void ToolList::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || wanted_ > landed_; });
    if (closed_) {
      return;
    }
    const std::uint64_t target = wanted_;
    lock.unlock();
    const auto listed = lister_(source_.context());
    if (!listed && on_error_) {
      on_error_(listed.error());
    }
    lock.lock();
    land(target, listed);
  }
}

/// Under the lock.
void ToolList::land(std::uint64_t target, const Result<ListedTools>& listed) {
  if (target >= landed_) {
    landed_ = target;
    error_.reset();
    if (listed) {
      tools_ = std::make_shared<const ListedTools>(*listed);
    } else {
      error_ = listed.error();
    }
  }
  changed_.notify_all();
}

void ToolList::close() {
  std::thread ended;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    ended = std::move(thread_);
  }
  source_.cancel(contract::CancelReason::Closed);
  changed_.notify_all();
  if (ended.joinable()) {
    ended.join();
  }
}

}  // namespace bawn::mcp
