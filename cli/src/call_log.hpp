/// \file
/// The log of calls: what `bawn log` shows. One line of JSON for each answer of a tool, in a file
/// of this process in the runtime directory, kept when the process ends.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/tool.hpp"
#include "json_lines.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace bawn::cli {

/// Names of tools, handles, how calls ended, times, confinement, denials and record: never a
/// command's text, its output or its environment. The target of a denial is the one word that a
/// command has chosen.
///
/// Threads: thread-safe.
class CallLog {
 public:
  static constexpr std::uint64_t kMaxBytes = 2U << 20U;  ///< of one server's file, twice at most
  static constexpr std::size_t kKeptFiles = 16;          ///< of servers that ended, the newest

  /// Opens `<runtime_dir>/log/<pid>-<start time>.jsonl` and removes the oldest files of servers
  /// that ended.
  ///
  /// Errors: by errno, naming the path.
  static contract::Result<std::shared_ptr<CallLog>> open(const std::string& runtime_dir);
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  [[nodiscard]] contract::Result<> append(const contract::Json& line) {
    return lines_->append(line);
  }
  [[nodiscard]] const std::string& path() const noexcept { return lines_->path(); }

 private:
  explicit CallLog(std::unique_ptr<JsonLines> lines) : lines_(std::move(lines)) {}

  std::unique_ptr<JsonLines> lines_;
};

/// The tool, whose answers are written to the log. A log that cannot be written loses lines; the
/// call is answered all the same.
///
/// Errors: InvalidArgument for an empty tool.
[[nodiscard]] contract::Result<contract::ToolPtr> logged(contract::ToolPtr tool,
                                                         std::shared_ptr<CallLog> log);

}  // namespace bawn::cli
