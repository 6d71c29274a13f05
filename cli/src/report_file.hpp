/// \file
/// The file of `bawn run --report`.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"

#include <string>

namespace bawn::cli {

/// Opened before anything starts, so that a report that cannot be written stops the run first. It
/// may lie where the command writes: each write gives the name to a new file, so that what the
/// command left under it is gone.
class ReportFile {
 public:
  /// An empty path gives a file that ignores writes. A name that is there and no regular file is
  /// refused, a link too.
  ///
  /// Errors: InvalidArgument (no regular file), else by errno, naming the path.
  static contract::Result<ReportFile> open(const std::string& path);

  [[nodiscard]] bool is_wanted() const noexcept { return directory_.is_open(); }

  /// Replaces the file by the report, one line of JSON, in one step.
  ///
  /// Errors: Busy when the directory is not the one at that path any more; else by errno.
  [[nodiscard]] contract::Result<> write(const contract::Json& report) const;

 private:
  [[nodiscard]] contract::Result<> check_directory() const;

  os::UniqueFd directory_;
  std::string path_;
  std::string folder_;  ///< as the caller wrote it
  std::string name_;
};

}  // namespace bawn::cli
