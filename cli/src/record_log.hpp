/// \file
/// The server's own recorder: one line of JSON for each record, in a file named after this process
/// in the runtime directory. What must survive is this process, not the machine, so nothing is
/// synced to a disk.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/os/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace bawn::cli {

/// Appends records with one write(2) each. Beyond `kMaxBytes` the file is moved to "<name>.1",
/// replacing an older one, and a new one begins.
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

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  RecordLog(std::string path, os::UniqueFd fd);
  [[nodiscard]] contract::Result<> begin_anew();

  std::string path_;
  std::mutex mutex_;
  os::UniqueFd fd_;
  std::uint64_t bytes_ = 0;
};

}  // namespace bawn::cli
