#include "bash_call.hpp"

#include "bawn/os/procfs.hpp"
#include "call_processes.hpp"
#include "driver_script.hpp"
#include "process_record.hpp"
#include "random_name.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {

constexpr std::string_view kProbe = "__bd";
constexpr std::size_t kNonce = 12;
// A line that a late signal cut off is sent again soon; a machine that is busy elsewhere gets
// longer.
constexpr int kBarrierFirstMs = 20;
constexpr int kBarrierRounds = 7;

std::vector<std::string> poisonous_options(const StepReport& report) {
  std::vector<std::string> options;
  for (const auto& [flag, name] : {std::pair{'e', "errexit"},
                                   {'t', "onecmd"},
                                   {'u', "nounset"},
                                   {'v', "verbose"},
                                   {'x', "xtrace"}}) {
    if (report.flags.find(flag) != std::string::npos) {
      options.emplace_back(name);
    }
  }
  if (report.pipefail) {
    options.emplace_back("pipefail");
  }
  return options;
}

}  // namespace

BashCall::BashCall(Session::Impl& session, CallPtr record, BashRequest request,
                   const contract::Context& context)
    : DrivenCall(std::move(record), {.timeout = request.timeout,
                                     .on_timeout = request.on_timeout,
                                     .output_limit = request.output_limit}),
      session_(session),
      request_(std::move(request)),
      recording_(context.detached()) {}

CallScope BashCall::scope() const {
  const sandbox::Child& child = session_.shell()->child();
  return {.marker = record_->id,
          .not_before = not_before_,
          .shell_marker = session_.marker_prefix + "shell",
          .shell_pid = child.pid(),
          .shell_inside_pid = child.inside_pid()};
}

Result<> BashCall::begin() {
  if (request_.command.find("\r\n") != std::string::npos) {
    notes_.emplace_back(
        "The command text has CRLF line ends; bash takes each CR as part of its line.");
  }
  if (session_.shell() == nullptr || !session_.shell()->running()) {
    const Restored restored = BAWN_TRY(session_.replace_shell(true));
    notes_.push_back(
        fmt::format("The shell had ended since the last call; a new one was started (state: {}).",
                    to_string(restored)));
  }
  record_data_ = BAWN_TRY(write_process_record(recording_, {.session = session_.config.name,
                                                            .call = record_->id,
                                                            .place = session_.place,
                                                            .warden = session_.warden.get(),
                                                            .child = &session_.shell()->child(),
                                                            .is_shell = true,
                                                            .groups = {}}));
  auto sent = send_step();
  if (!sent) {
    session_.steps.give_back(std::move(files_));
  }
  return sent;
}

Result<> BashCall::open_input() {
  const std::string name = files_.name + ".i";
  if (!request_.input_open) {
    return request_.input ? session_.dir.write_text(name, *request_.input) : Result<>();
  }
  InputFifo fifo = BAWN_TRY(session_.dir.make_input(name));
  const int inner = fifo.read.get();
  auto feed = BAWN_TRY(InputFeed::make(
      {.write = std::move(fifo.write), .held = std::move(fifo.read), .inner = inner}));
  BAWN_TRY(feed->write(request_.input.value_or("")));
  record_->set_input(std::move(feed));
  return {};
}

Result<> BashCall::send_step() {
  const SessionFiles& dir = session_.dir;
  const bool has_input = request_.input || request_.input_open;
  const bool wrapped = !request_.cwd.empty() || !request_.environment.empty();
  files_ = BAWN_TRY(session_.steps.take());
  const std::string text_name = wrapped ? files_.name + ".t" : files_.name;
  session_.may_trace = session_.may_trace || may_trace(request_.command);
  const std::string_view trailer = text_trailer(session_.may_trace);
  if (wrapped) {
    BAWN_TRY(dir.write_text(text_name, request_.command, trailer));
    BAWN_TRY(session_.steps.write_text(
        files_, wrapper_script(dir.read_side() + text_name, session_.absolute(request_.cwd),
                               request_.environment)));
  } else {
    BAWN_TRY(session_.steps.write_text(files_, request_.command, trailer));
  }
  BAWN_TRY(open_input());
  record_->set_script({dir.read_side() + text_name, "bash"});
  pump_.emplace(record_, files_.out.read.get(), files_.err.read.get(),
                session_.shell()->child().exit_event(), &session_.reports, files_.nonce);
  not_before_ = session_.warden->start_time_now();
  const std::string line =
      step_line({.nonce = files_.nonce,
                 .marker = record_->id,
                 .text = dir.read_side() + files_.name,
                 .input = has_input ? dir.read_side() + files_.name + ".i" : "/dev/null",
                 .output = dir.write_side() + files_.name + ".o",
                 .error = dir.write_side() + files_.name + ".e",
                 .keep_options = request_.keep_options,
                 .come_back = !request_.cwd.empty(),
                 .after_failure = session_.last_status != 0,
                 .exports_all = session_.exports_all});
  step_ = line.size() + 1;
  sent_ = Clock::now();
  BAWN_TRY(session_.shell()->write_line(line));
  session_.steps.prepare();  // while the shell works on this one
  return {};
}

BashCall::Look BashCall::give_up(std::string why) {
  given_up_ = std::move(why);
  StopResult stopped;
  stopped.killed_shell = true;
  stopped.step = "shell_restart";
  std::ignore = signal_process(*session_.warden, session_.shell()->child().inside_pid(), SIGKILL);
  stopped.exited = pump_->wait(Clock::now() + std::chrono::seconds(1)).exited;
  return {.stopped = std::move(stopped), .soon = false};
}

void BashCall::continue_shell() {
  if (session_.warden->relay() == nullptr &&
      os::process_state(session_.shell()->child().pid()).value_or('?') == 'T') {
    // Nobody else can: to the session it is the one that would run `fg`.
    std::ignore = signal_process(*session_.warden, session_.shell()->child().inside_pid(), SIGCONT);
    record_->add_note("The text stopped the shell itself; it was continued.");
  }
}

BashCall::Look BashCall::look() {
  // Looks at a shell that took the extra line and does not report: enough of them for a machine
  // that is busy elsewhere, and for a report that comes over a relay.
  constexpr int kEnough = 8;
  BashProcess& shell = *session_.shell();
  continue_shell();
  const std::size_t unread = shell.unread();
  if (unread >= step_ + queued_ && Clock::now() - sent_ >= session_.config.limits.busy_shell) {
    return give_up(
        "The shell was busy with something of an earlier call and did not come back to its prompt; "
        "it was replaced.");
  }
  if (queued_ == 0 && unread != 0) {
    // On a busy machine the step's own line is still there. The shell would read both at once, and
    // then look as if it had come back.
    return {.stopped = {}, .soon = true};
  }
  if (queued_ == 0) {
    // A text can take away PROMPT_COMMAND and then be cut off by an error, so that nothing reports.
    // This line waits in the shell's input and makes it report as soon as it reads on.
    if (shell.write_line(kProbe)) {
      queued_ = kProbe.size() + 1;
    }
    return {.stopped = {}, .soon = true};
  }
  if (unread != 0) {
    return {};
  }
  // The line is taken, so the shell is at its prompt, and still no report came: it cannot report
  // (no descriptors left, a trap that skips commands). It is of no more use.
  if (++looks_taken_ < kEnough) {
    return {.stopped = {}, .soon = true};
  }
  return give_up("The shell came back to its prompt but could no longer report; it was replaced.");
}

StopResult BashCall::stop() {
  Stopper stopper(*session_.warden, scope(), session_.config.limits.stop_grace, *pump_,
                  session_.shell(), queued_, files_.nonce);
  return stopper.run();
}

bool BashCall::release_streams() {
  // All that the foreground printed is in the FIFOs; release_stream() reads more than they hold.
  pump_.reset();
  files_.out.keep.reset();
  files_.err.keep.reset();
  const bool out_held = release_stream(*session_.keeper, Stream::Out, files_.out.read);
  const bool err_held = release_stream(*session_.keeper, Stream::Err, files_.err.read);
  const SessionFiles& dir = session_.dir;
  if (!request_.cwd.empty() || !request_.environment.empty()) {
    dir.remove_text(files_.name + ".t");
  }
  if (request_.input || request_.input_open) {
    dir.remove_text(files_.name + ".i");
  }
  session_.steps.give_back(std::move(files_));
  return out_held || err_held;
}

void BashCall::from_report(CallResult& result, const StepReport& report, bool restarted) {
  if (!restarted) {
    result.reason = Reason::Exited;
    result.exit_code = report.status;
    result.pipe_statuses = report.pipe_statuses;
  }
  result.cwd = report.cwd;
  result.cwd_missing = report.cwd_missing;
  if (!request_.keep_options) {
    result.options_reset = poisonous_options(report);
  }
  for (const JobLine& job : report.jobs) {
    if (job.stopped) {
      result.stopped_jobs.push_back(
          {.pid = 0, .inside_pid = job.pid, .pgid = job.pid, .state = 'T', .name = {}});
    }
    new_jobs_ = new_jobs_ || !session_.known_jobs.contains(job.pid);
  }
  // One that has ended by now may have left others behind.
  new_jobs_ = new_jobs_ || report.last_background != session_.last_background;
  session_.last_background = report.last_background;
  session_.note_shell(report);
  session_.known_jobs.clear();
  for (const JobLine& job : report.jobs) {
    session_.known_jobs.insert(job.pid);
  }
}

void BashCall::restore_shell(CallResult& result) {
  const auto restored = session_.replace_shell(true);
  if (!restored) {
    result.notes.push_back(fmt::format("The shell ended and a new one could not be started: {}",
                                       restored.error().message()));
    return;
  }
  result.shell_restarted = true;
  result.restored = *restored;
  const StepReport& first = session_.shell()->first_report();
  if (first.flags.find('!') != std::string::npos) {
    result.notes.emplace_back(
        "The saved state has an error in it: what comes after that could not be restored.");
  }
  from_report(result, first, true);
}

void BashCall::from_death(CallResult& result) {
  const auto status = session_.shell()->child().status();
  // bash takes what lies there, up to a KiB at once: what is left of the step's line tells that the
  // text never began. The extra lines of look() and of stopping may lie there too.
  const bool began = session_.shell()->unread() <= queued_;
  if (status && !began) {
    result.reason = Reason::ShellLost;
    result.notes.emplace_back("The shell had ended before it took this text; nothing of it ran.");
  } else if (status) {
    result.reason = status->signal ? Reason::Signalled : Reason::Exited;
    result.exit_code = status->shell_code();
    result.signal = status->signal;
  } else {
    result.reason = Reason::ShellLost;
  }
  if (session_.warden->alive()) {
    restore_shell(result);
  } else {
    result.reason = Reason::ShellLost;
    result.notes.emplace_back("The session ended; the next call starts a new one.");
  }
}

void BashCall::barrier(CallResult& result) {
  BashProcess& shell = *session_.shell();
  // A second signal may still be on its way and cut the first of these lines off.
  for (int round = 0; round < kBarrierRounds && shell.running(); ++round) {
    const std::string nonce = random_name(kNonce);
    if (shell.write_line(fmt::format("__bk=kn __bq= __bi={};__bs;__bd", nonce)) &&
        session_.reports.wait(nonce, shell.child().exit_event(), kBarrierFirstMs << round)) {
      return;
    }
  }
  std::ignore = signal_process(*session_.warden, shell.child().inside_pid(), SIGKILL);
  result.stopped_by = "shell_restart";
  restore_shell(result);
}

void BashCall::list_survivors(CallResult& result, bool held) {
  if (!held && !new_jobs_ && result.survivors.empty() && !result.shell_restarted) {
    return;  // nothing hints at a survivor: asking the warden is not worth a round trip
  }
  CallScope whose = scope();
  auto processes = call_processes(*session_.warden, whose);
  if (processes && processes->empty() && new_jobs_) {
    // One that forks and ends while the list is made (setsid does) can be missed with its child.
    processes = call_processes(*session_.warden, whose);
  }
  if (!processes) {
    return;
  }
  std::vector<int> groups;
  result.survivors.clear();
  for (const sandbox::ProcessInfo& process : *processes) {
    result.survivors.push_back(to_survivor(process));
    if (std::find(groups.begin(), groups.end(), process.pgid) == groups.end()) {
      groups.push_back(process.pgid);
    }
    for (Survivor& job : result.stopped_jobs) {
      if (job.inside_pid == process.inside_pid) {
        job = to_survivor(process);
      }
    }
  }
  if (!groups.empty()) {
    // The groups that bash chose are known only now; a later server can end them by this record.
    auto written = write_process_record(recording_, {.session = session_.config.name,
                                                     .call = record_->id,
                                                     .place = session_.place,
                                                     .warden = session_.warden.get(),
                                                     .child = &session_.shell()->child(),
                                                     .is_shell = true,
                                                     .groups = groups});
    if (written && *written) {
      record_data_ = *std::move(written);
    }
  }
}

void BashCall::conclude(const std::optional<StopResult>& stopped) {
  const std::optional<StepReport> report = pump_->report();
  const bool held = release_streams();
  CallResult result;
  result.notes = std::move(notes_);
  if (stopped) {
    queued_ = std::max(queued_, stopped->queued);
  }
  if (report) {
    from_report(result, *report, false);
  } else {
    from_death(result);
  }
  if (stopped) {
    result.stopped_by = stopped->step;
    result.survivors = stopped->survivors;
    if (stopped->killed_shell && record_->stop_cause() == StopCause::None) {
      result.reason = Reason::ShellLost;
      result.notes.push_back(given_up_);
    }
    if (report && stopped->shell_signalled) {
      barrier(result);
    }
  }
  apply_cause(result, stopped.has_value());
  if (session_.shell() != nullptr && session_.warden->alive()) {
    list_survivors(result, held);
  }
  result.record = std::move(record_data_);
  session_.complete(result);
  // The slot first: whoever sees the call finished may run the next one.
  session_.release_step();
  record_->finish(std::move(result));
}

}  // namespace bawn::shell
