/// \file
/// One bash: interactive without any terminal, fed one short line per step.
#pragma once

#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/warden.hpp"
#include "report_channel.hpp"
#include "session_files.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

/// What a shell needs to start.
struct BashStart {
  std::string bash;
  std::vector<std::string> environment;
  std::string directory;      ///< where to be when there is no state
  std::string marker_prefix;  ///< of BAWN_CALL
  std::string report_path;
  std::string state;            ///< an earlier shell's state; empty = none
  std::size_t state_limit = 0;  ///< larger states at exit are not kept, bytes
};

/// Threads: one at a time, but for exit_event() and status().
class BashProcess {
 public:
  /// Blocking: until the shell reports that it is ready, at most 10 s.
  ///
  /// Errors: the warden's; Internal when it ends or stays silent instead of reporting.
  static Result<std::unique_ptr<BashProcess>> start(sandbox::Warden& warden,
                                                    const SessionFiles& dir, ReportChannel& reports,
                                                    const BashStart& start);
  ~BashProcess();
  BashProcess(const BashProcess&) = delete;
  BashProcess& operator=(const BashProcess&) = delete;

  [[nodiscard]] const sandbox::Child& child() const noexcept { return *child_; }
  [[nodiscard]] bool running() const { return !child_->status().has_value(); }
  /// What the shell said when it was ready.
  [[nodiscard]] const StepReport& first_report() const noexcept { return first_; }

  /// Writes one line (without its newline) to the shell's standard input.
  [[nodiscard]] Result<> write_line(std::string_view line);
  /// Bytes of lines that the shell has not read yet.
  [[nodiscard]] std::size_t unread() const;

  /// The state that it wrote when it ended; empty when it could not, or when it was too large.
  [[nodiscard]] std::string take_exit_state() const;

 private:
  BashProcess(const SessionFiles& dir, std::unique_ptr<sandbox::Child> child);

  const SessionFiles& dir_;
  std::unique_ptr<sandbox::Child> child_;
  // Our own reading end keeps the pipe alive when the shell is gone, so that no write raises
  // SIGPIPE.
  os::UniqueFd line_read_;
  os::UniqueFd line_write_;
  StateFile exit_state_;
  std::string exit_name_;
  std::size_t state_limit_ = 0;
  StepReport first_;
};

/// A whole state file; empty when it is cut short or larger than `limit` bytes.
[[nodiscard]] std::string read_state(const StateFile& file, std::size_t limit);

}  // namespace bawn::shell
