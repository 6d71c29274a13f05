#include "tool_result.hpp"

#include "tool_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string.h>

#include <algorithm>

namespace bawn::shell {

namespace {

double milliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000.0;
}

StreamCounts counts_of(const StreamView& view) {
  return {.bytes = view.bytes,
          .lines = view.lines,
          .missing_bytes = view.missing_bytes,
          .missing_lines = view.missing_lines,
          .invalid_bytes = view.invalid_bytes,
          .folded = view.folded,
          .base64 = view.base64,
          .from = view.from,
          .next = view.next,
          .stored = view.stored};
}

std::vector<ProcessEntry> entries_of(const std::vector<Survivor>& processes) {
  std::vector<ProcessEntry> entries;
  for (const Survivor& process : processes) {
    entries.push_back({.pid = process.pid,
                       .inside_pid = process.inside_pid,
                       .pgid = process.pgid,
                       .state = std::string(1, process.state),
                       .name = process.name});
  }
  return entries;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string ended(const CallResult& result) {
  if (result.signal) {
    return "killed by " + signal_name(*result.signal);
  }
  std::string text = fmt::format("exit {}", result.exit_code.value_or(0));
  const auto& parts = result.pipe_statuses;
  if (parts.size() > 1 && std::any_of(parts.begin(), parts.end(), [](int s) { return s != 0; })) {
    text += fmt::format(" (pipeline {})", fmt::join(parts, " "));
  }
  return text;
}

std::string stopped(const CallResult& result, std::string_view word) {
  std::string text(word);
  if (!result.stopped_by.empty()) {
    text += fmt::format(", stopped by {}", result.stopped_by);
  }
  return result.exit_code ? fmt::format("{}, {}", text, ended(result)) : text;
}

std::string status_line(const CallResult& result) {
  if (result.state == CallState::Running) {
    return fmt::format(
        "running{}: call {} (bash_output follows it, bash_kill stops it)",
        result.waiting_for.empty()
            ? std::string()
            : fmt::format(", waiting for input on its {} (bash_input writes)", result.waiting_for),
        result.call);
  }
  switch (result.reason.value_or(Reason::Exited)) {
    case Reason::Exited:
    case Reason::Signalled:
      return result.message.empty() ? ended(result)
                                    : fmt::format("{}: {}", ended(result), result.message);
    case Reason::Timeout:
      return stopped(result, "timed out");
    case Reason::Cancelled:
      return stopped(result, "cancelled");
    case Reason::OutputLimit:
      return stopped(result, "printed more than its output limit");
    case Reason::Oom:
      return stopped(result, "ended by the memory limit");
    case Reason::Denied:
      return fmt::format("denied: {}", result.message);
    case Reason::SyntaxError:
      return fmt::format("syntax error, nothing ran: {}", result.message);
    case Reason::IncompleteInput:
      return fmt::format("incomplete here-document, nothing ran: {}", result.message);
    case Reason::ShellLost:
      return stopped(result, "the shell was lost");
  }
  return ended(result);
}

std::string list_of(const std::vector<Survivor>& processes) {
  std::string text;
  for (const Survivor& process : processes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", process.inside_pid, process.name);
  }
  return text;
}

std::string left_out(const CallResult& result, std::string_view name, const StreamView& view,
                     bool readable_later) {
  return fmt::format("{} has {} bytes in {} lines; {}", name, view.bytes, view.lines,
                     readable_later
                         ? fmt::format("bash_output with call {} and {}_from reads what "
                                       "is left out",
                                       result.call, name)
                         : fmt::format("max_output_bytes shows up to {} of them", kMostShown));
}

std::string remarks(const CallResult& result, const std::vector<Denial>& denials,
                    bool readable_later) {
  std::string text;
  const auto add = [&](const std::string& line) { text += fmt::format("[{}]\n", line); };
  if (result.cwd_missing) {
    add(fmt::format("the working directory {} no longer exists", result.cwd));
  }
  if (result.shell_restarted) {
    add(fmt::format("the shell ended; a new one goes on in {}, state: {}", result.cwd,
                    to_string(result.restored)));
  }
  if (!result.options_reset.empty()) {
    add(fmt::format("shell options taken back: {}", fmt::join(result.options_reset, " ")));
  }
  if (!result.survivors.empty()) {
    add(fmt::format("still running: {}", list_of(result.survivors)));
  }
  if (!result.stopped_jobs.empty()) {
    add(fmt::format("stopped: {}", list_of(result.stopped_jobs)));
  }
  for (const Denial& denial : denials) {
    add(fmt::format("{} by the wall: {} {} ({}; {}). {}",
                    denial.confirmed ? "refused" : "possibly refused", denial.op, denial.target,
                    denial.layer, denial.rule, denial.hint));
  }
  for (const sandbox::ProtectedChange& change : result.protected_changes) {
    add(fmt::format("protected name {}: {}; programs outside obey it, so look at it first",
                    to_string(change.kind), change.path));
  }
  for (const std::string& note : result.notes) {
    add(note);
  }
  for (const auto& [name, view] :
       {std::pair{"stdout", &result.out}, std::pair{"stderr", &result.err}}) {
    if (view->missing_bytes != 0) {
      add(left_out(result, name, *view, readable_later));
    }
    if (view->invalid_bytes != 0) {
      add(fmt::format("{} bytes of {} are not UTF-8", view->invalid_bytes, name));
    }
  }
  return text;
}

}  // namespace

CallEntry to_entry(const CallResult& result, const std::vector<Denial>& denials) {
  CallEntry entry;
  entry.call = result.call;
  entry.session = result.session;
  entry.state = to_string(result.state);
  if (result.reason) {
    entry.reason = std::string(to_string(*result.reason));
  }
  entry.exit_code = result.exit_code;
  entry.signal = result.signal;
  entry.pipe_statuses = result.pipe_statuses;
  entry.cwd = result.cwd;
  entry.cwd_missing = result.cwd_missing;
  entry.out = result.out.text;
  entry.err = result.err.text;
  entry.out_counts = counts_of(result.out);
  entry.err_counts = counts_of(result.err);
  for (const Segment& segment : result.segments) {
    entry.segments.push_back({.stream = segment.err ? "stderr" : "stdout", .bytes = segment.bytes});
  }
  entry.segments_cut = result.segments_cut;
  entry.waiting_for = result.waiting_for;
  entry.screen = result.screen;
  entry.options_reset = result.options_reset;
  entry.survivors = entries_of(result.survivors);
  entry.stopped_jobs = entries_of(result.stopped_jobs);
  entry.shell_restarted = result.shell_restarted;
  entry.restored = to_string(result.restored);
  entry.stopped_by = result.stopped_by;
  entry.duration_ms = milliseconds(result.duration);
  if (result.cpu_us) {
    entry.cpu_ms = static_cast<double>(*result.cpu_us) / 1000.0;
  }
  entry.peak_memory_bytes = result.peak_memory_bytes;
  if (!result.cpu_us) {
    entry.usage_unknown =
        result.state == CallState::Running
            ? "the call still runs"
            : "only a cgroup could tell the use of one call in a shell that serves many";
  }
  entry.message = result.message;
  for (const Denial& denial : denials) {
    entry.denials.push_back({.op = denial.op,
                             .target = denial.target,
                             .layer = denial.layer,
                             .rule = denial.rule,
                             .evidence = denial.evidence,
                             .certainty = denial.confirmed ? "confirmed" : "possible",
                             .scope = denial.of_call || !denial.confirmed ? "call" : "session",
                             .pid = denial.pid,
                             .exe = denial.program,
                             .hint = denial.hint});
  }
  for (const sandbox::ProtectedChange& change : result.protected_changes) {
    entry.protected_changed.push_back(
        {.path = change.path, .change = std::string(to_string(change.kind))});
  }
  if (!result.shell.empty()) {
    entry.shell = result.shell;
  }
  entry.not_kept = result.not_kept;
  entry.notes = result.notes;
  return entry;
}

std::string to_text(const CallResult& result, const std::vector<Denial>& denials,
                    const TextOptions& options) {
  std::string text = status_line(result) + "\n";
  if (!result.cwd.empty() && result.cwd != options.usual_cwd && !result.cwd_missing) {
    text += fmt::format("[working directory: {}]\n", result.cwd);
  }
  text += remarks(result, denials, options.readable_later);
  if (result.screen && result.screen_addressed) {
    // The screen is what the stream's cursor movements add up to.
    return text + "--- screen ---\n" + *result.screen;
  }
  text += result.out.text;
  if (!result.err.text.empty()) {
    if (!text.ends_with('\n')) {
      text += '\n';
    }
    text += "--- stderr ---\n" + result.err.text;
  }
  return text;
}

}  // namespace bawn::shell
