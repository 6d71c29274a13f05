/// \file
/// Reads the servers' logs of calls, once or as they grow.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"
#include "server_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bawn::cli {

/// Lines that are no JSON object (the last one of a server that was killed while it wrote) are left
/// out. Threads: for one thread.
class LogReader {
 public:
  /// `folder` need not exist.
  explicit LogReader(std::string folder) : folder_(std::move(folder)) {}

  /// What was written since the last time, oldest first. "server_pid" and
  /// "server_start_time" are added to each line.
  /// Blocking: file reads.
  [[nodiscard]] std::vector<contract::Json> read_new();

  /// Blocks until something changes in the folder or a signal is caught.
  ///
  /// Errors: by errno of inotify(7); NotFound when the folder does not exist.
  [[nodiscard]] contract::Result<> wait();

 private:
  void read_file(const std::string& path, const os::ProcessIdentity& server,
                 std::vector<contract::Json>& lines);

  std::string folder_;
  std::map<std::uint64_t, std::uint64_t> offsets_;  ///< bytes read, by inode
  os::UniqueFd watch_;
};

/// One line for each call: an answer "running" is replaced by a later one of the same call. Answers
/// that belong to no call (lists, refusals) stay. Order: when the call began.
[[nodiscard]] std::vector<contract::Json> merge_calls(const std::vector<contract::Json>& lines);

/// Calls that were running when their server ended become "lost": nothing of them runs any more,
/// and nobody will say how they ended. A server is gone when its number and start time name no
/// process, or when the call's record is of another boot.
void mark_lost(std::vector<contract::Json>& merged);

}  // namespace bawn::cli
