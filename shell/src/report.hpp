/// \file
/// The shell's report at the end of a step: read from the report FIFO, believed only with the
/// step's nonce.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

/// A stopped or running job as `jobs -l` names it.
struct JobLine {
  int pid = 0;  ///< inside number
  bool stopped = false;
};

struct StepReport {
  int status = 0;
  std::vector<int> pipe_statuses;
  std::string flags;  ///< the shell's "$-"; of a new one also the old one's, | for pipefail, and !
                      ///< when a part of the state could not be read back
  bool pipefail = false;
  bool cwd_missing = false;
  std::string cwd;
  int last_background = 0;    ///< "$!", an inside number; 0 = there was none
  std::vector<JobLine> jobs;  ///< those that have not ended
};

/// Takes what comes out of the FIFO and finds the report of one step in it. Anything else (old
/// reports, what a command wrote there) is dropped.
///
/// Threads: not thread-safe.
class ReportParser {
 public:
  void append(std::string_view bytes);
  /// The report framed by `nonce`, once it is complete.
  [[nodiscard]] std::optional<StepReport> take(std::string_view nonce);

 private:
  std::string buffer_;
};

}  // namespace bawn::shell
