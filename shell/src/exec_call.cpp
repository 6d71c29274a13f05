#include "exec_call.hpp"

#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "process_record.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace bawn::shell {

namespace {

std::vector<std::string> merged_environment(
    std::vector<std::string> environment,
    const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [name, value] : changes) {
    const std::string prefix = name + "=";
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(prefix); });
    environment.push_back(prefix + value);
  }
  return environment;
}

Result<os::Pipe> output_pipe() {
  os::Pipe pipe = BAWN_TRY(os::Pipe::make());
  if (fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make an output pipe"));
  }
  return pipe;
}

}  // namespace

ExecCall::ExecCall(Session::Impl& session, CallPtr record, const ExecRequest& request,
                   const contract::Context& context)
    : DrivenCall(std::move(record), request.timeout, request.output_limit),
      session_(session),
      recording_(context.detached()) {}

CallScope ExecCall::scope() const {
  return {.marker = record_->id,
          .not_before = not_before_,
          .shell_marker = {},
          .shell_pid = 0,
          .shell_inside_pid = 0};
}

Result<> ExecCall::begin(const ExecRequest& request) {
  os::Pipe out = BAWN_TRY(output_pipe());
  os::Pipe err = BAWN_TRY(output_pipe());
  sandbox::SpawnSpec spec;
  spec.argv = request.argv;
  spec.env = merged_environment(session_.environment, request.environment);
  cwd_ = request.cwd.starts_with('/') ? request.cwd
         : request.cwd.empty()        ? session_.config.workspace
                                      : session_.config.workspace + "/" + request.cwd;
  spec.cwd = cwd_;
  if (request.input) {
    spec.standard_input = BAWN_TRY(os::sealed_memfd("input", *request.input));
  }
  spec.standard_output = std::move(out.write);
  spec.standard_error = std::move(err.write);
  spec.call = record_->id;
  program_ = request.argv.front();
  not_before_ = start_time_now();
  child_ = BAWN_TRY(session_.warden->spawn(std::move(spec)));
  record_data_ = BAWN_TRY(write_process_record(recording_, {.session = session_.config.name,
                                                            .call = record_->id,
                                                            .warden = session_.warden.get(),
                                                            .child = child_.get(),
                                                            .is_shell = false,
                                                            .groups = {}}));
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  pump_.emplace(record_, out_.get(), err_.get(), child_->exit_event(), nullptr, std::string());
  return child_->go();
}

StopResult ExecCall::stop() {
  Stopper stopper(*session_.warden, scope(), session_.config.limits.stop_grace, *pump_, nullptr, 0);
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
  if (status->exec_errno != 0) {
    result.message =
        fmt::format("cannot start {}: {}", program_,
                    std::strerror(status->exec_errno));  // NOLINT(concurrency-mt-unsafe)
  }
}

void ExecCall::conclude(const std::optional<StopResult>& stopped) {
  pump_->drain();
  pump_.reset();
  const bool out_held = release_stream(*session_.keeper, Stream::Out, std::move(out_));
  const bool err_held = release_stream(*session_.keeper, Stream::Err, std::move(err_));
  CallResult result;
  result.cwd = cwd_;
  from_status(result);
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
  apply_cause(result);
  result.record = std::move(record_data_);
  session_.complete(result);
  session_.release_exec();
  record_->finish(std::move(result));
}

}  // namespace bawn::shell
