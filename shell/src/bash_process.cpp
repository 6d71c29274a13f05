#include "bash_process.hpp"

#include "bawn/os/pipe.hpp"
#include "driver_script.hpp"
#include "random_name.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bawn::shell {

namespace {
constexpr int kStartTimeoutMs = 10'000;
}

BashProcess::BashProcess(const SessionFiles& dir, std::unique_ptr<sandbox::Child> child)
    : dir_(dir), child_(std::move(child)) {}

BashProcess::~BashProcess() {
  dir_.remove_output(exit_name_);
}

Result<std::unique_ptr<BashProcess>> BashProcess::start(sandbox::Warden& warden,
                                                        const SessionFiles& dir,
                                                        ReportChannel& reports,
                                                        const BashStart& start) {
  os::Pipe lines = BAWN_TRY(os::Pipe::make());
  const std::string nonce = random_name(12);
  const std::string name = random_name(8);
  DriverSettings settings{.report = start.report_path,
                          .exit_state = dir.write_side() + name + ".x",
                          .start_nonce = nonce,
                          .later = {},
                          .directory = start.directory};
  StateFile exit_state = BAWN_TRY(dir.make_state_file(name + ".x"));
  if (!start.state.empty()) {
    const StateParts state = parts_of_state(start.state);
    settings.later = dir.read_side() + name + ".l";
    BAWN_TRY(dir.write_text(name + ".s", state.first, kStateRead));
    BAWN_TRY(dir.write_text(name + ".l", state.later));
  }
  BAWN_TRY(dir.write_text(name, driver_script(settings)));

  sandbox::SpawnSpec spec;
  spec.argv = {start.bash, "--norc", "--noprofile", "--noediting", "-i"};
  spec.env = start.environment;
  spec.cwd = start.directory;
  spec.standard_input.reset(fcntl(lines.read.get(), F_DUPFD_CLOEXEC, 3));
  spec.call = start.marker_prefix + "shell";
  spec.new_session = true;
  std::unique_ptr<BashProcess> process(
      new BashProcess(dir, BAWN_TRY(warden.spawn(std::move(spec)))));
  process->line_read_ = std::move(lines.read);
  process->line_write_ = std::move(lines.write);
  process->exit_state_ = std::move(exit_state);
  process->exit_name_ = name + ".x";
  process->state_limit_ = start.state_limit;
  BAWN_TRY(process->child_->go());
  if (!start.state.empty()) {
    // A line of its own: an error in it returns to the prompt, and the next line is read.
    BAWN_TRY(process->write_line(
        fmt::format(". {} >/dev/null 2>&1", shell_quote(dir.read_side() + name + ".s"))));
  }
  BAWN_TRY(process->write_line(fmt::format("\\. {}", shell_quote(dir.read_side() + name))));

  auto report = reports.wait(nonce, process->child_->exit_event(), kStartTimeoutMs);
  dir.remove_text(name);
  dir.remove_text(name + ".s");
  dir.remove_text(name + ".l");
  if (!report) {
    const auto status = process->child_->status();
    if (status && status->exec_errno != 0) {
      return std::unexpected(Error::from_errno(status->exec_errno, "execve",
                                               fmt::format("cannot start {}", start.bash)));
    }
    return contract::fail(ErrorCode::Internal,
                          status ? fmt::format("{} ended with status {} before it was ready",
                                               start.bash, status->shell_code())
                                 : fmt::format("{} did not become ready within {} s", start.bash,
                                               kStartTimeoutMs / 1000));
  }
  process->first_ = *std::move(report);
  return process;
}

Result<> BashProcess::write_line(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  // Lines are far shorter than PIPE_BUF, and the shell reads one before it gets the next but few.
  if (write(line_write_.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return std::unexpected(Error::from_errno(errno, "write", "cannot reach the shell"));
  }
  return {};
}

std::size_t BashProcess::unread() const {
  if (const auto told = child_->unread_input()) {
    return *told;
  }
  int waiting = 0;
  ioctl(line_read_.get(), FIONREAD, &waiting);
  return static_cast<std::size_t>(waiting);
}

std::string BashProcess::take_exit_state() const {
  return read_state(exit_state_, state_limit_);
}

std::string read_state(const StateFile& file, std::size_t limit) {
  const std::string text = file.read(limit);
  return text.ends_with(state_end()) ? usable_state(text) : std::string();
}

}  // namespace bawn::shell
