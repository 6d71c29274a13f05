/// \file
/// A file of JSON lines of bounded size that one process appends to.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace bawn::cli {

/// Appends each value with one write(2). Beyond `max_bytes` the file is moved to "<path>.1",
/// replacing an older one, and a new one begins. Nothing is synced: what must survive is this
/// process, not the machine.
///
/// Threads: thread-safe.
class JsonLines {
 public:
  /// Opens `path` to append, mode 0600; a link in its place is refused.
  ///
  /// Errors: by errno, naming the path.
  static contract::Result<std::unique_ptr<JsonLines>> open(std::string path,
                                                           std::uint64_t max_bytes);
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  /// Errors: by errno of write(2); ResourceExhausted when the disk has no room for a whole line.
  [[nodiscard]] contract::Result<> append(const contract::Json& value);
  /// Removes both files.
  void remove() noexcept;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  JsonLines(std::string path, std::uint64_t max_bytes, os::UniqueFd fd);
  [[nodiscard]] contract::Result<> begin_anew();

  const std::string path_;
  const std::uint64_t max_bytes_;
  std::mutex mutex_;
  os::UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  bool torn_ = false;  ///< the last line was cut by a full disk
};

/// Makes `<folder>` (mode 0700) and returns the name of this process's file in it:
/// `<folder>/<pid>-<start time>.jsonl`, which no other process has before the next boot.
///
/// Errors: by errno, naming the folder.
[[nodiscard]] contract::Result<std::string> own_file_in(const std::string& folder);

}  // namespace bawn::cli
