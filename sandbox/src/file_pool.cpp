#include "file_pool.hpp"

#include <chrono>

namespace bawn::sandbox {

namespace {

using End = FileExchange::End;

/// For a caller without a deadline.
constexpr std::chrono::seconds kUsualLimit{30};
/// An agent that is killed again and again is given up.
constexpr int kMaxTries = 4;

Error ended_error(const contract::Context& context) {
  switch (context.reason().value_or(contract::CancelReason::Deadline)) {
    case contract::CancelReason::Cancelled:
      return {ErrorCode::Cancelled, "the call was cancelled"};
    case contract::CancelReason::Closed:
      return {ErrorCode::Closed, "the caller went away"};
    case contract::CancelReason::Deadline:
      break;
  }
  return {ErrorCode::DeadlineExceeded, "the deadline passed"};
}

}  // namespace

Result<std::unique_ptr<FileChannel>> FilePool::take(const contract::Context& context,
                                                    const FileAsk& ask) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return !idle_.empty() || at_work_ < kMaxAtWork; };
  if (!changed_.wait_until(lock, context.stop_token(), *context.deadline(), ready)) {
    return std::unexpected(late_error({ask.op, ask.path, false}, ended_error(context)));
  }
  ++at_work_;
  if (!idle_.empty()) {
    auto channel = std::move(idle_.back());
    idle_.pop_back();
    return channel;
  }
  lock.unlock();
  auto started = start_();
  if (!started) {
    drop(nullptr);
    return std::unexpected(started.error().code() == ErrorCode::ResourceExhausted
                               ? started.error().wrap("the session's file agents are stuck, and no "
                                                      "further one can be started")
                               : started.error());
  }
  return started;
}

void FilePool::give_back(std::unique_ptr<FileChannel> channel) {
  {
    const std::scoped_lock lock(mutex_);
    --at_work_;
    idle_.push_back(std::move(channel));
  }
  changed_.notify_one();
}

void FilePool::drop(std::unique_ptr<FileChannel> channel) {
  channel.reset();
  {
    const std::scoped_lock lock(mutex_);
    --at_work_;
  }
  changed_.notify_one();
}

void FilePool::distrust() {
  std::vector<std::unique_ptr<FileChannel>> ended;
  const std::scoped_lock lock(mutex_);
  ended.swap(idle_);
}

Result<FileReply> FilePool::ask(const contract::Context& context, const FileAsk& ask,
                                std::string_view payload, int fd) {
  const auto now = contract::Context::Clock::now();
  if (context.ended_at(now)) {
    return std::unexpected(late_error({ask.op, ask.path, false}, ended_error(context)));
  }
  const contract::Context bounded = context.with_deadline(now + kUsualLimit);
  for (int tries = 1;; ++tries) {
    auto channel = BAWN_TRY(take(bounded, ask));
    FileExchange result = channel->exchange(ask.op, payload, fd, bounded);
    if (result.end == End::Answered) {
      give_back(std::move(channel));
      if (result.reply.failed) {
        return std::unexpected(read_failure(result.reply.payload, ask));
      }
      return std::move(result.reply);
    }
    drop(std::move(channel));
    if (result.end == End::Ended) {
      return std::unexpected(late_error(ask, *result.error));
    }
    if (result.end == End::Malformed) {
      return std::unexpected(malformed_error());
    }
    const bool again = result.end == End::Unsent || !ask.changes;
    if (!again || tries == kMaxTries) {
      return std::unexpected(
          lost_error({ask.op, ask.path, result.end == End::Lost && ask.changes}));
    }
  }
}

Result<FileHold> FilePool::hold(const contract::Context& context, const FileAsk& ask) {
  const auto now = contract::Context::Clock::now();
  if (context.ended_at(now)) {
    return std::unexpected(late_error({ask.op, ask.path, false}, ended_error(context)));
  }
  return FileHold(*this, BAWN_TRY(take(context.with_deadline(now + kUsualLimit), ask)));
}

FileHold::~FileHold() {
  if (pool_ == nullptr) {
    return;
  }
  if (sound_) {
    pool_->give_back(std::move(channel_));
  } else {
    pool_->drop(std::move(channel_));
  }
}

void FileHold::distrust() {
  sound_ = false;
  pool_->distrust();
}

Result<std::vector<FileReply>> FileHold::ask(const contract::Context& context, const FileAsk& ask,
                                             std::span<const FileRequest> requests) {
  const contract::Context bounded =
      context.with_deadline(contract::Context::Clock::now() + kUsualLimit);
  std::vector<FileReply> replies;
  const FileExchange result = channel_->exchange(requests, replies, bounded);
  for (std::size_t at = 0; at < replies.size(); ++at) {
    if (replies[at].failed) {
      sound_ = result.end == End::Answered;
      return std::unexpected(
          read_failure(replies[at].payload, {requests[at].op, ask.path, ask.changes}));
    }
  }
  switch (result.end) {
    case End::Answered:
      return replies;
    case End::Unsent:
    case End::Lost:
      sound_ = false;
      return std::unexpected(
          lost_error({ask.op, ask.path, result.end == End::Lost && ask.changes}));
    case End::Ended:
      sound_ = false;
      return std::unexpected(late_error(ask, *result.error));
    case End::Malformed:
      break;
  }
  sound_ = false;
  return std::unexpected(malformed_error());
}

}  // namespace bawn::sandbox
