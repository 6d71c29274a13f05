/// \file
/// The file agents of one session: as many as work at the same time, each on one request, so that
/// one that hangs hinders no other.
#pragma once

#include "file_channel.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// Threads: thread-safe.
class FilePool {
 public:
  /// `order` is what every agent is started with (file_wire.hpp).
  FilePool(std::shared_ptr<WardenLink> link, std::string order)
      : link_(std::move(link)), order_(std::move(order)) {}

  /// Asks an agent and returns its reply. A failed request is an Error with its FileFailure.
  ///
  /// Errors and blocking: as FileAgent.
  [[nodiscard]] Result<FileReply> ask(const contract::Context& context, const FileAsk& ask,
                                      std::string_view payload, int fd = -1);
  /// Ends the agents that are at rest, because one of them sent what it must not.
  void distrust();

 private:
  static constexpr std::size_t kMaxAtWork = 4;

  [[nodiscard]] Result<std::unique_ptr<FileChannel>> take(const contract::Context& context,
                                                          const FileAsk& ask);
  void give_back(std::unique_ptr<FileChannel> channel);
  void drop(std::unique_ptr<FileChannel> channel);

  std::shared_ptr<WardenLink> link_;
  std::string order_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::unique_ptr<FileChannel>> idle_;
  std::size_t at_work_ = 0;
};

}  // namespace bawn::sandbox
