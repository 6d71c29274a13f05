/// \file
/// The server's own recorder: one line of JSON for each record, in a file named after this process
/// in the runtime directory. What must survive is this process, not the machine, so nothing is
/// synced to a disk.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/record.hpp"
#include "json_lines.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace bawn::cli {

/// The records of one server, bounded as JsonLines is.
///
/// Threads: thread-safe.
class RecordLog {
 public:
  static constexpr std::uint64_t kMaxBytes = 8U << 20U;

  /// Opens `<runtime_dir>/records/<pid>-<start time>.jsonl`, mode 0600, making the folder.
  ///
  /// Errors: by errno, naming the path.
  static contract::Result<std::shared_ptr<RecordLog>> open(const std::string& runtime_dir);

  /// Removes the file: a server that ended in order has nothing left to end.
  ~RecordLog();
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;

  /// Errors: by errno of write(2); the caller then must not let the process act.
  [[nodiscard]] contract::Result<> append(const contract::Record& record);

  [[nodiscard]] const std::string& path() const noexcept { return lines_->path(); }

 private:
  explicit RecordLog(std::unique_ptr<JsonLines> lines) : lines_(std::move(lines)) {}

  std::unique_ptr<JsonLines> lines_;
};

}  // namespace bawn::cli
