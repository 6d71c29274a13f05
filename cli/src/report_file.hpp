/// \file
/// The file of `bawn run --report`.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/os/unique_fd.hpp"

#include <string>

namespace bawn::cli {

/// Opened before anything starts, so that a report that cannot be written stops the run first.
class ReportFile {
 public:
  /// An empty path gives a file that ignores writes. A link or anything but a regular file is
  /// refused.
  ///
  /// Errors: InvalidArgument (no regular file), else by errno, naming the path.
  static contract::Result<ReportFile> open(const std::string& path);

  /// Replaces the content by the report, one line of JSON.
  [[nodiscard]] contract::Result<> write(const contract::Json& report);

 private:
  os::UniqueFd fd_;
  std::string path_;
};

}  // namespace bawn::cli
