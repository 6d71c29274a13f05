#include "exec_call.hpp"

#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/sandbox/roots.hpp"
#include "denials.hpp"
#include "process_record.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace bawn::shell {

namespace {

constexpr std::size_t kStatusesLimit = 64 * 1024;

Result<os::Pipe> output_pipe() {
  os::Pipe pipe = BAWN_TRY(os::Pipe::make());
  if (fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make an output pipe"));
  }
  return pipe;
}

/// Of /dev only these where a writable root lies in it.
constexpr std::array kDevices = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                 "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts"};

/// Whether anything that a call may change otherwise lies in that directory.
bool holds_a_root(const std::string& directory, const Session::Impl& session) {
  const auto below = [&](const std::string& root) {
    return sandbox::lies_in_any(root, {directory});
  };
  const auto roots = sandbox::writable_roots(session.config.policy, session.config.workspace,
                                             session.identity.home);
  return std::ranges::any_of(roots, below) || below(session.config.workspace);
}

/// Where a call that may change nothing still can: devices, the private temporary directory, and
/// the place of its own report. The temporary directory only where no writable root lies in it.
std::vector<std::string> writable_places(const Session::Impl& session) {
  std::vector<std::string> places = {session.dir.write_side()};
  if (holds_a_root("/dev", session)) {
    places.insert(places.end(), kDevices.begin(), kDevices.end());
  } else {
    places.emplace_back("/dev");
  }
  std::string temporary = "/tmp";
  for (const std::string& entry : session.environment) {
    if (entry.starts_with("TMPDIR=/")) {
      temporary = entry.substr(7);
    }
  }
  if (!holds_a_root(temporary, session)) {
    places.push_back(std::move(temporary));
  }
  return places;
}

}  // namespace

ExecCall::ExecCall(Session::Impl& session, CallPtr record, Launch launch,
                   const contract::Context& context)
    : DrivenCall(std::move(record), launch.limits),
      session_(session),
      launch_(std::move(launch)),
      recording_(context.detached()) {}

ExecCall::~ExecCall() {
  if (!launch_.files.empty()) {
    for (const char* suffix : {"", ".t", ".s", ".l"}) {
      session_.dir.remove_text(launch_.files + suffix);
    }
    session_.dir.remove_output(launch_.files + ".q");
  }
}

CallScope ExecCall::scope() const {
  return {.marker = record_->id,
          .not_before = not_before_,
          .shell_marker = {},
          .shell_pid = 0,
          .shell_inside_pid = 0};
}

Result<> ExecCall::connect_terminal(sandbox::SpawnSpec& spec) {
  Terminal terminal = BAWN_TRY(Terminal::open(*launch_.terminal));
  os::UniqueFd typed(fcntl(terminal.outer.get(), F_DUPFD_CLOEXEC, 3));
  auto feed = BAWN_TRY(InputFeed::make(
      {.write = std::move(typed), .inner = terminal.inner.get(), .terminal = true}));
  BAWN_TRY(feed->write(launch_.input.value_or("")));
  record_->set_input(std::move(feed));
  record_->set_screen(*launch_.terminal);
  spec.standard_output.reset(fcntl(terminal.inner.get(), F_DUPFD_CLOEXEC, 3));
  spec.standard_error.reset(fcntl(terminal.inner.get(), F_DUPFD_CLOEXEC, 3));
  spec.standard_input = std::move(terminal.inner);
  spec.controlling_terminal = true;
  out_ = std::move(terminal.outer);
  return {};
}

Result<> ExecCall::connect_remote_terminal(sandbox::SpawnSpec& spec) {
  os::SocketPair ends = BAWN_TRY(os::SocketPair::make());
  os::UniqueFd typed(fcntl(ends.near.get(), F_DUPFD_CLOEXEC, 3));
  if (fcntl(ends.near.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make a terminal"));
  }
  auto feed = BAWN_TRY(InputFeed::make({.write = std::move(typed), .terminal = true}));
  BAWN_TRY(feed->write(launch_.input.value_or("")));
  record_->set_input(std::move(feed));
  record_->set_screen(*launch_.terminal);
  spec.standard_input = std::move(ends.far);
  spec.remote_terminal = {.columns = launch_.terminal->columns, .rows = launch_.terminal->rows};
  out_ = std::move(ends.near);
  return {};
}

Result<> ExecCall::connect_input(sandbox::SpawnSpec& spec) {
  if (!launch_.input_open) {
    if (launch_.input) {
      spec.standard_input = BAWN_TRY(os::sealed_memfd("input", *launch_.input));
    }
    return {};
  }
  os::Pipe pipe = BAWN_TRY(os::Pipe::make());
  if (fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make an input pipe"));
  }
  os::UniqueFd held(fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, 3));
  const int identity = held.get();
  auto feed = BAWN_TRY(InputFeed::make(
      {.write = std::move(pipe.write), .held = std::move(held), .inner = identity}));
  BAWN_TRY(feed->write(launch_.input.value_or("")));
  record_->set_input(std::move(feed));
  spec.standard_input = std::move(pipe.read);
  return {};
}

Result<> ExecCall::connect(sandbox::SpawnSpec& spec) {
  if (launch_.terminal) {
    return session_.warden->relay() == nullptr ? connect_terminal(spec)
                                               : connect_remote_terminal(spec);
  }
  BAWN_TRY(connect_input(spec));
  os::Pipe out = BAWN_TRY(output_pipe());
  os::Pipe err = BAWN_TRY(output_pipe());
  spec.standard_output = std::move(out.write);
  spec.standard_error = std::move(err.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  return {};
}

Result<> ExecCall::begin() {
  sandbox::SpawnSpec spec;
  spec.argv = launch_.argv;
  spec.env = std::move(launch_.environment);
  spec.cwd = launch_.cwd;
  spec.call = record_->id;
  BAWN_TRY(connect(spec));
  if (launch_.read_only) {
    spec.writable_only = writable_places(session_);
  }
  not_before_ = session_.warden->start_time_now();
  child_ = BAWN_TRY(session_.warden->spawn(std::move(spec)));
  if (launch_.terminal && session_.warden->relay() != nullptr) {
    record_->input()->resize_by([child = child_](TerminalSize size) {
      return child->resize({.columns = size.columns, .rows = size.rows});
    });
  }
  record_data_ = BAWN_TRY(write_process_record(recording_, {.session = session_.config.name,
                                                            .call = record_->id,
                                                            .place = session_.place,
                                                            .warden = session_.warden.get(),
                                                            .child = child_.get(),
                                                            .is_shell = false,
                                                            .groups = {}}));
  if (!launch_.files.empty()) {
    record_->set_script({session_.dir.read_side() + launch_.files + ".t", launch_.shown_as});
  }
  pump_.emplace(record_, out_.get(), err_.get(), child_->exit_event(), nullptr, std::string());
  return child_->go();
}

StopResult ExecCall::stop() {
  Stopper stopper(*session_.warden, scope(), session_.config.limits.stop_grace, *pump_, nullptr, 0,
                  {});
  return stopper.run();
}

void ExecCall::from_status(CallResult& result) const {
  const auto status = child_->status();
  if (!status) {
    result.reason = Reason::ShellLost;
    result.notes.emplace_back("The session ended under the program; its status is not known.");
    return;
  }
  result.reason = status->signal ? Reason::Signalled : Reason::Exited;
  result.exit_code = status->shell_code();
  result.signal = status->signal;
  result.cpu_us = status->user_us + status->system_us;
  result.peak_memory_bytes = status->peak_rss_bytes;
  std::string statuses = launch_.statuses.read(kStatusesLimit);
  for (std::size_t at = statuses.find(' '); at < statuses.size(); ++at) {
    int value = 0;  // the first number is the status itself
    const auto [end, error] =
        std::from_chars(statuses.data() + at + 1, statuses.data() + statuses.size(), value);
    if (error != std::errc()) {
      break;
    }
    result.pipe_statuses.push_back(value);
    at = static_cast<std::size_t>(end - statuses.data()) - 1;
  }
  const std::string& program = launch_.argv.front();
  if ((status->exec_errno == EACCES || status->exec_errno == EPERM) && !session_.elsewhere() &&
      refuses_program(program.starts_with('/') ? program : launch_.cwd + "/" + program,
                      session_.config.policy, session_.identity.home)) {
    result.reason = Reason::Denied;
  }
  if (status->exec_errno != 0) {
    result.message =
        fmt::format("cannot start {}: {}", launch_.argv.front(),
                    std::strerror(status->exec_errno));  // NOLINT(concurrency-mt-unsafe)
  }
}

void ExecCall::add_details(CallResult& /*result*/) {}

void ExecCall::release() {
  session_.release_exec(*record_);
}

void ExecCall::conclude(const std::optional<StopResult>& stopped) {
  pump_->drain();
  pump_.reset();
  const bool out_held = release_stream(*session_.keeper, Stream::Out, out_);
  const bool err_held = release_stream(*session_.keeper, Stream::Err, err_);
  out_.reset();
  err_.reset();
  CallResult result;
  result.notes = std::move(launch_.notes);
  result.cwd = launch_.cwd;
  from_status(result);
  add_details(result);
  if (stopped) {
    result.stopped_by = stopped->step;
    result.survivors = stopped->survivors;
  } else if (out_held || err_held) {
    if (const auto processes = call_processes(*session_.warden, scope())) {
      for (const sandbox::ProcessInfo& process : *processes) {
        result.survivors.push_back(to_survivor(process));
      }
    }
  }
  apply_cause(result, stopped.has_value());
  result.record = std::move(record_data_);
  session_.complete(result);
  release();
  record_->finish(std::move(result));
}

}  // namespace bawn::shell
