/// \file
/// The file agents of one session: as many as work at the same time, each on one request, so that
/// one that hangs hinders no other.
#pragma once

#include "file_channel.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bawn::sandbox {

class FileHold;

/// Threads: thread-safe.
class FilePool {
 public:
  using Starter = std::function<Result<std::unique_ptr<FileChannel>>()>;

  /// `start` starts an agent. Where it is `carried` no descriptor goes to it or comes from it, and
  /// the start order says so (file_wire.hpp).
  FilePool(Starter start, bool carried) : start_(std::move(start)), carried_(carried) {}

  [[nodiscard]] bool carried() const noexcept { return carried_; }
  /// Asks an agent and returns its reply. A failed request is an Error with its FileFailure.
  ///
  /// Errors and blocking: as FileAgent.
  [[nodiscard]] Result<FileReply> ask(const contract::Context& context, const FileAsk& ask,
                                      std::string_view payload, int fd = -1);
  /// Takes an agent for several requests after each other. The pool must outlive it.
  ///
  /// Errors and blocking: as FileAgent.
  [[nodiscard]] Result<FileHold> hold(const contract::Context& context, const FileAsk& ask);
  /// Ends the agents that are at rest, because one of them sent what it must not.
  void distrust();

 private:
  friend class FileHold;
  static constexpr std::size_t kMaxAtWork = 4;

  [[nodiscard]] Result<std::unique_ptr<FileChannel>> take(const contract::Context& context,
                                                          const FileAsk& ask);
  void give_back(std::unique_ptr<FileChannel> channel);
  void drop(std::unique_ptr<FileChannel> channel);

  Starter start_;
  bool carried_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::unique_ptr<FileChannel>> idle_;
  std::size_t at_work_ = 0;
};

/// One agent of a pool at work on several requests. Destroying it gives the agent back, or ends it
/// after an error that was not the answer to a request.
///
/// Threads: not thread-safe.
class FileHold {
 public:
  FileHold(FilePool& pool, std::unique_ptr<FileChannel> channel)
      : pool_(&pool), channel_(std::move(channel)) {}
  ~FileHold();
  FileHold(FileHold&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), channel_(std::move(other.channel_)) {}
  FileHold& operator=(FileHold&&) = delete;

  /// Sends all requests and returns their replies. The first that failed is the Error.
  ///
  /// Errors: as FilePool::ask, but that a lost agent is not replaced. Blocking: bounded by the
  /// context, and by 30 s.
  [[nodiscard]] Result<std::vector<FileReply>> ask(const contract::Context& context,
                                                   const FileAsk& ask,
                                                   std::span<const FileRequest> requests);
  [[nodiscard]] bool set_attributes(const FileAttributes& attributes) const {
    return channel_->set_attributes(attributes);
  }
  /// It sent what it must not: ends it, and those at rest with it.
  void distrust();

 private:
  FilePool* pool_;
  std::unique_ptr<FileChannel> channel_;
  bool sound_ = true;
};

}  // namespace bawn::sandbox
