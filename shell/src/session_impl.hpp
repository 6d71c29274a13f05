/// \file
/// The inside of a session: what its calls share.
#pragma once

#include "bash_process.hpp"
#include "bawn/sandbox/protected_watch.hpp"
#include "bawn/shell/session.hpp"
#include "calls.hpp"
#include "driven_call.hpp"
#include "keeper.hpp"
#include "oom_watch.hpp"
#include "report_channel.hpp"
#include "session_files.hpp"
#include "step_files.hpp"
#include "syntax_checker.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace bawn::shell {

/// Threads: thread-safe. The shell and the report FIFO belong to whoever holds the step slot: the
/// running bash call, or maintenance (saving the state, restarting).
class Session::Impl {
 public:
  Impl(SessionConfig session_config, std::unique_ptr<const SessionFiles> files,
       std::shared_ptr<sandbox::Warden> wall, std::vector<std::string> session_environment,
       ReportChannel reports, std::string report_path);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<> bring_up();
  /// Who `child`, which runs inside, runs as.
  void identify(const sandbox::Child& child);
  void close();

  Result<CallResult> run(const contract::Context& context, BashRequest request);
  Result<CallResult> exec(const contract::Context& context, ExecRequest request);
  Result<CallResult> output(const contract::Context& context, const OutputRequest& request);
  Result<> write_input(const InputRequest& request);
  [[nodiscard]] std::optional<Milliseconds> idle_for() const;
  Result<Restored> restart(const contract::Context& context, bool keep_state);

  /// The shell, for the holder of the step slot; null when it could not be started again.
  [[nodiscard]] BashProcess* shell() const noexcept { return shell_.get(); }
  /// For the holder of the step slot: replaces a shell that is gone.
  Result<Restored> replace_shell(bool keep_state);
  /// Keeps what the next step's line depends on.
  void note_shell(const StepReport& report);
  /// Gives the step slot of a bash call back and lets the idle time begin.
  void release_step();
  /// Ends one exec call's place among the running ones, unless that was done.
  void release_exec(CallRecord& record);
  /// Ends the session with a call that cannot be brought to its end, for want of memory: nobody may
  /// wait for what that call held.
  void abandon(const CallPtr& record) noexcept;

  /// Its processes and files are not this machine's to look at.
  [[nodiscard]] bool elsewhere() const noexcept {
    return warden->relay() != nullptr || place_files != nullptr;
  }
  /// A directory as a call names it: below the workspace when it is relative; empty stays empty.
  [[nodiscard]] std::string absolute(const std::string& directory) const;
  /// None when the text is well-formed.
  Result<std::optional<SyntaxFault>> check_syntax(const contract::Context& context,
                                                  const std::string& text);

  /// Fills in what every result of this session has, and the notes about calls nobody heard of.
  void complete(CallResult& result);

  const SessionConfig config;
  const std::unique_ptr<const SessionFiles> files;
  const SessionFiles& dir;  ///< *files
  const std::shared_ptr<sandbox::Warden> warden;
  const std::vector<std::string> environment;
  const std::string marker_prefix;  ///< call ids are this and a number
  std::string place;                ///< the name of where it runs, in records; empty = this machine
  std::shared_ptr<PlaceFiles> place_files;  ///< where no warden of ours is; else null
  Identity identity;                        ///< set once by bring_up(), or before it
  ReportChannel reports;
  Calls calls;
  StepStore steps;  ///< for the holder of the step slot
  std::unique_ptr<Keeper> keeper;
  std::unique_ptr<SyntaxChecker> checker;
  std::string bash_path;                          ///< set by bring_up()
  std::unique_ptr<class SnapshotShell> snapshot;  ///< where there is no bash: then shell() is null
  /// Null where a wall was brought along, or has nothing to watch. Set before the first call.
  std::shared_ptr<sandbox::ProtectedWatch> watch;
  OomWatch memory_kills;  ///< since the session was last idle
  std::shared_ptr<sandbox::AuditLog> audit;
  std::atomic<std::uint64_t> seen_records{0};    ///< of `audit`, in earlier results
  std::atomic<std::uint64_t> seen_decisions{0};  ///< of the egress log, in earlier results
  // Of the last report; for the holder of the step slot.
  std::set<int> known_jobs;  ///< inside pids
  bool may_trace = false;    ///< a text had what turns xtrace on; also in a function
  int last_status = 0;       ///< what the shell's own $? is
  bool exports_all = false;  ///< `set -a` is on there
  int last_background = 0;   ///< inside pid of the last job that was put into the background

 private:
  friend class Session;
  Result<CallPtr> new_record(const char* kind, bool aside);
  /// Waits for a condition over the members that `mutex_` guards.
  ///
  /// Errors: Closed; Cancelled and DeadlineExceeded when the context ends first.
  Result<> wait_for_slot(std::unique_lock<std::mutex>& lock, const contract::Context& context,
                         const std::function<bool()>& is_free);
  Result<> claim_step(const contract::Context& context, const CallPtr& record);
  Result<> claim_place(CallRecord& record);
  bool claim_maintenance();
  void release_maintenance();
  /// Gives the slot back at the end of a scope.
  class Maintenance {
   public:
    explicit Maintenance(Impl& session) : session_(session) {}
    ~Maintenance() { session_.release_maintenance(); }
    Maintenance(const Maintenance&) = delete;
    Maintenance& operator=(const Maintenance&) = delete;

   private:
    Impl& session_;
  };
  /// Waits for the call as long as it may, then leaves it to a thread of its own.
  CallResult drive(const contract::Context& context, const std::shared_ptr<DrivenCall>& call,
                   std::optional<Milliseconds> yield, std::size_t view_bytes);
  CallResult drive_on(const contract::Context& context, const std::shared_ptr<DrivenCall>& call,
                      std::optional<Milliseconds> yield, std::size_t view_bytes);
  /// The call as it is now, with what it waits for.
  CallResult answer(const CallPtr& record, const CallRecord::Part& part);
  /// False when no thread can be had.
  bool continue_alone(const std::shared_ptr<DrivenCall>& call);
  Result<> start_shell();
  Result<> start_bash(const std::string& path);
  Result<CallResult> run_in_shell(const contract::Context& context, BashRequest request);
  Result<std::shared_ptr<DrivenCall>> begin_in_shell(const contract::Context& context,
                                                     const CallPtr& record, BashRequest request);
  /// Null when the call is over already, because its text does not parse.
  Result<std::shared_ptr<DrivenCall>> begin_in_bash(const contract::Context& context,
                                                    const CallPtr& record, BashRequest request);
  Result<std::shared_ptr<DrivenCall>> begin_in_new_shell(const contract::Context& context,
                                                         const CallPtr& record,
                                                         BashRequest request);
  /// False when the text does not parse: then the call has ended.
  Result<bool> parses(const contract::Context& context, const CallPtr& record,
                      const BashRequest& request);
  Result<CallResult> run_aside(const contract::Context& context, BashRequest request);
  Result<> begin_beside(const contract::Context& context, const CallPtr& record, struct Launch what,
                        std::shared_ptr<class ExecCall>& call);
  Result<CallResult> launch(const contract::Context& context, const CallPtr& record,
                            struct Launch what, std::optional<Milliseconds> yield,
                            std::size_t view_bytes);
  Result<CallPtr> find_call(const std::string& id) const;
  /// The shell's state for a bash beside it, taken now when the shell is at rest.
  Result<std::string> current_state(const contract::Context& context,
                                    std::vector<std::string>& notes);
  /// Where `place_files` are.
  Result<Parsed> parse_there(const contract::Context& context, std::string_view text);
  void end_shell_processes();
  void on_idle();
  /// Ends a shell that uses the processor although no call runs.
  void watch_idle_shell();
  void save_state();
  [[nodiscard]] BashStart bash_start(std::string state) const;

  const std::string report_path_;
  std::unique_ptr<BashProcess> shell_;

  mutable std::mutex mutex_;
  std::condition_variable_any slot_free_;
  std::string state_;                      ///< the last one saved
  bool state_current_ = false;             ///< nothing has run in the shell since
  CallPtr running_;                        ///< the bash call that holds the slot
  std::optional<std::uint64_t> idle_cpu_;  ///< of the shell at the last look since a call, ticks
  bool maintaining_ = false;               ///< or maintenance does
  bool closed_ = false;
  std::size_t running_exec_ = 0;
  std::chrono::steady_clock::time_point last_call_ = std::chrono::steady_clock::now();
  std::uint64_t last_number_ = 0;

  struct Worker {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };
  std::list<Worker> workers_;
};

}  // namespace bawn::shell
