/// \file
/// Stands where a warden would, in a container that cannot run ours: each process is one exec of
/// the engine, and a shell in there lists and ends them. It is no wall.
#pragma once

#include "bawn/sandbox/warden.hpp"
#include "exec_control.hpp"
#include "exec_run.hpp"
#include "process_line.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::container {

/// A process there, with the number of the run that it belongs to.
struct OwnedProcess {
  ProcessLine process;
  std::uint64_t run = 0;
  std::string call;  ///< of the run; empty where nobody knows
};

/// A run's shell that leads a session.
struct SessionLeader {
  std::uint64_t run = 0;
  std::uint64_t start_time = 0;  ///< as ProcessLine's
};

/// What stands in b_list's answer and is of a run: by its mark, as a member of a session that the
/// run's shell leads, or as the child of such a process. `leaders` has the shells by number; one
/// whose number is another process's by now leads nothing. Pure.
[[nodiscard]] std::vector<OwnedProcess> owned_processes(std::string_view listed,
                                                        std::map<int, SessionLeader> leaders);

/// Threads: thread-safe.
class ExecWarden final : public sandbox::Warden {
 public:
  ExecWarden(ExecRoute route, std::string mark, std::shared_ptr<ExecControl> control,
             contract::Confinement report);
  ~ExecWarden() override { close(); }

  [[nodiscard]] const contract::Confinement& report() const noexcept override { return report_; }
  [[nodiscard]] int pid() const noexcept override { return control_->pid(); }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t pid_namespace() const noexcept override { return 0; }
  /// Errors also: Unsupported for terminals and for what may change nothing.
  [[nodiscard]] Result<std::unique_ptr<sandbox::Child>> spawn(sandbox::SpawnSpec spec) override;
  [[nodiscard]] Result<int> signal(const sandbox::SignalTarget& target, int signal) override;
  [[nodiscard]] Result<std::vector<sandbox::ProcessInfo>> tree() override;
  [[nodiscard]] Result<std::shared_ptr<sandbox::FileAgent>> file_agent() override;
  /// None: what runs there cannot be held from here.
  [[nodiscard]] std::vector<os::UniqueFd> watch(
      const std::vector<sandbox::ProcessInfo>& processes) override;
  [[nodiscard]] bool alive() const noexcept override { return control_->alive(); }
  void close() override;

 private:
  struct Run {
    std::shared_ptr<ExecRun> run;  ///< null once it has ended and nobody waits for it
    std::string call;
    int pid = 0;
    std::uint64_t start_time = 0;
    bool leads = false;
  };
  /// Without the runs' own shells.
  [[nodiscard]] Result<std::vector<OwnedProcess>> list(const contract::Context& context);
  /// The runs that have ended; to be let go of without the lock, since that may wait for an engine.
  [[nodiscard]] std::vector<std::shared_ptr<ExecRun>> take_ended();

  const ExecRoute route_;
  const std::string mark_;
  const std::shared_ptr<ExecControl> control_;
  const contract::Confinement report_;
  std::mutex mutex_;
  std::map<std::uint64_t, Run> runs_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace bawn::container
