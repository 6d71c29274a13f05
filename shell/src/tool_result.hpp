/// \file
/// The structured form of a call's result, and its text.
#pragma once

#include "bawn/contract/describe.hpp"
#include "bawn/contract/result.hpp"
#include "bawn/shell/call_result.hpp"
#include "denials.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

/// Counts of one stream; see StreamView.
struct StreamCounts {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t missing_bytes = 0;
  std::uint64_t missing_lines = 0;
  std::uint64_t invalid_bytes = 0;
  bool folded = false;
  bool base64 = false;
  std::uint64_t from = 0;
  std::uint64_t next = 0;
  std::uint64_t stored = 0;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("bytes", &StreamCounts::bytes).desc("All bytes printed so far"),
        field("lines", &StreamCounts::lines).desc("All lines, an unfinished last one included"),
        field("missing_bytes", &StreamCounts::missing_bytes)
            .desc("Bytes that the text leaves out in its middle"),
        field("missing_lines", &StreamCounts::missing_lines).desc("Lines that it leaves out"),
        field("invalid_bytes", &StreamCounts::invalid_bytes)
            .desc("Bytes that are not UTF-8, shown as U+FFFD"),
        field("folded", &StreamCounts::folded)
            .desc("Overwritten text and terminal sequences are left out of the text"),
        field("base64", &StreamCounts::base64).desc("The text is base64 of the raw bytes"),
        field("from", &StreamCounts::from).desc("Offset of the first byte shown"),
        field("next", &StreamCounts::next).desc("Offset to read on at"),
        field("stored", &StreamCounts::stored).desc("Bytes from the start that can be read"));
  }
};

struct SegmentEntry {
  std::string stream;
  std::uint64_t bytes = 0;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("stream", &SegmentEntry::stream).one_of("stdout,stderr").desc("Which stream"),
        field("bytes", &SegmentEntry::bytes).desc("Bytes read from it without a change"));
  }
};

struct ProcessEntry {
  int pid = 0;
  int inside_pid = 0;
  int pgid = 0;
  std::string state;
  std::string name;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("pid", &ProcessEntry::pid).desc("Process id on the host"),
        field("inside_pid", &ProcessEntry::inside_pid).desc("Process id as commands see it"),
        field("pgid", &ProcessEntry::pgid).desc("Process group as commands see it"),
        field("state", &ProcessEntry::state).desc("State letter of proc(5)"),
        field("name", &ProcessEntry::name).desc("Program name"));
  }
};

struct DenialEntry {
  std::string op;
  std::string target;
  std::string layer;
  std::string rule;
  std::string evidence;
  std::string certainty;
  std::string scope;
  int pid = 0;
  std::string exe;
  std::string hint;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("op", &DenialEntry::op)
            .desc("read, write, execute, connect, bind, signal, trace or mount"),
        field("target", &DenialEntry::target).desc("Path or address"),
        field("layer", &DenialEntry::layer).desc("What would have refused it"),
        field("rule", &DenialEntry::rule).desc("The policy's rule"),
        field("evidence", &DenialEntry::evidence)
            .desc("audit (the kernel's record), proxy, notification; or replay: concluded from the "
                  "policy and the command's own words"),
        field("certainty", &DenialEntry::certainty)
            .desc("confirmed by those who refused it, or possible; replay is never more"),
        field("scope", &DenialEntry::scope)
            .desc("call, or session: refused in the session since its last result"),
        field("pid", &DenialEntry::pid).desc("Process id on the host, 0 when it is not known"),
        field("exe", &DenialEntry::exe).desc("Its program, empty when it is not known"),
        field("hint", &DenialEntry::hint).desc("What to do instead"));
  }
};

struct ProtectedEntry {
  std::string path;
  std::string change;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(field("path", &ProtectedEntry::path).desc("The name, absolute"),
                            field("change", &ProtectedEntry::change)
                                .one_of("appeared,changed,removed")
                                .desc("What became of it since the last result"));
  }
};

/// Everything that is known about a call.
struct CallEntry {
  std::string call;
  std::string session;
  std::string state;
  std::optional<std::string> reason;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::vector<int> pipe_statuses;
  std::string cwd;
  bool cwd_missing = false;
  std::string out;
  std::string err;
  StreamCounts out_counts;
  StreamCounts err_counts;
  std::vector<SegmentEntry> segments;
  bool segments_cut = false;
  std::string waiting_for;
  std::optional<std::string> screen;
  std::vector<std::string> options_reset;
  std::vector<ProcessEntry> survivors;
  std::vector<ProcessEntry> stopped_jobs;
  bool shell_restarted = false;
  std::string restored;
  std::string stopped_by;
  double duration_ms = 0;
  std::optional<double> cpu_ms;
  std::optional<std::uint64_t> peak_memory_bytes;
  std::optional<std::string> usage_unknown;
  std::string message;
  std::vector<DenialEntry> denials;
  std::vector<ProtectedEntry> protected_changed;
  std::optional<std::string> shell;
  std::vector<std::string> not_kept;
  std::vector<std::string> notes;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("call", &CallEntry::call).desc("Id of this call, for bash_output and bash_kill"),
        field("session", &CallEntry::session).desc("Session it ran in"),
        field("state", &CallEntry::state).one_of("running,finished").desc("Whether it still runs"),
        field("reason", &CallEntry::reason)
            .one_of("exited,signalled,timeout,cancelled,output_limit,oom,denied,syntax_error,"
                    "incomplete_input,shell_lost")
            .desc("Why it ended; absent while it runs"),
        field("exit_code", &CallEntry::exit_code).desc("0 to 255; absent while it runs"),
        field("signal", &CallEntry::signal).desc("Signal that ended it"),
        field("pipe_statuses", &CallEntry::pipe_statuses)
            .desc("Statuses of the last pipeline, in order"),
        field("cwd", &CallEntry::cwd).desc("Working directory afterwards"),
        field("cwd_missing", &CallEntry::cwd_missing).desc("That directory no longer exists"),
        field("stdout", &CallEntry::out).desc("Standard output"),
        field("stderr", &CallEntry::err).desc("Standard error"),
        field("stdout_counts", &CallEntry::out_counts).desc("Exact counts of standard output"),
        field("stderr_counts", &CallEntry::err_counts).desc("Exact counts of standard error"),
        field("segments", &CallEntry::segments)
            .desc("Which stream was read in which order, the first 256 changes"),
        field("segments_cut", &CallEntry::segments_cut).desc("There were more changes"),
        field("waiting_for", &CallEntry::waiting_for)
            .desc("stdin or terminal when a running call waits for input; or empty"),
        field("screen", &CallEntry::screen)
            .desc("What the call's terminal shows, line by line; only with tty"),
        field("options_reset", &CallEntry::options_reset)
            .desc("Shell options that were set and taken back"),
        field("survivors", &CallEntry::survivors).desc("Processes of this call that still run"),
        field("stopped_jobs", &CallEntry::stopped_jobs).desc("Jobs stopped by a signal"),
        field("shell_restarted", &CallEntry::shell_restarted)
            .desc("The shell ended in this call and a new one took its place"),
        field("restored", &CallEntry::restored)
            .one_of("not_needed,restored,from_last_snapshot,lost")
            .desc("What became of its state"),
        field("stopped_by", &CallEntry::stopped_by)
            .desc("Last step that ending it needed: INT, TERM, KILL, shell_restart; or empty"),
        field("duration_ms", &CallEntry::duration_ms).desc("Wall time, milliseconds"),
        field("cpu_ms", &CallEntry::cpu_ms)
            .desc("CPU time of the call's process and of what it waited for, milliseconds"),
        field("peak_memory_bytes", &CallEntry::peak_memory_bytes)
            .desc("Peak resident memory of the largest of them"),
        field("usage_unknown", &CallEntry::usage_unknown)
            .desc("Why CPU time and memory are absent"),
        field("message", &CallEntry::message).desc("Why it did not run, in the system's words"),
        field("denials", &CallEntry::denials).desc("What the wall may have refused"),
        field("protected_changed", &CallEntry::protected_changed)
            .desc("Names that programs outside obey and that changed while no layer could hold "
                  "them: look at them before using them"),
        field("shell", &CallEntry::shell)
            .desc("What ran the text: bash, or where there is none PROGRAM (snapshot), a new shell "
                  "for each call"),
        field("not_kept", &CallEntry::not_kept)
            .desc("What the next call does not find of this one's doings, where the shell is a "
                  "snapshot"),
        field("notes", &CallEntry::notes).desc("What else must be known"));
  }
};

[[nodiscard]] CallEntry to_entry(const CallResult& result, const std::vector<Denial>& denials);

/// What there is to say to a reader of text beside the result itself.
struct TextOptions {
  std::string_view usual_cwd{};  ///< the working directory is named when it is another one
  bool readable_later = true;    ///< bash_output has what the text leaves out
};

/// The same for a reader of text: a status line, notes, output, errors.
[[nodiscard]] std::string to_text(const CallResult& result, const std::vector<Denial>& denials,
                                  const TextOptions& options);

}  // namespace bawn::shell
