/// \file
/// What became of one call of the shell: data for programs, from which the tools make their text.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/sandbox/audit.hpp"
#include "bawn/sandbox/egress.hpp"
#include "bawn/sandbox/protected_watch.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

using contract::Error;
using contract::ErrorCode;
using contract::Json;
using contract::Result;

/// Whether the call's foreground part still runs.
enum class CallState { Running, Finished };

/// Why a finished call ended. The first cause wins.
enum class Reason {
  Exited,           ///< by itself, with an exit code
  Signalled,        ///< by a signal that we did not send
  Timeout,          ///< its `timeout_ms` or the caller's deadline passed
  Cancelled,        ///< the caller stopped it
  OutputLimit,      ///< it printed more than it was allowed to
  Oom,              ///< the memory limit ended it
  Denied,           ///< the policy refused to start it
  SyntaxError,      ///< the text does not parse; nothing ran
  IncompleteInput,  ///< a here-document has no end; nothing ran
  ShellLost,        ///< the shell, or the whole session, went away under it
};

[[nodiscard]] std::string_view to_string(CallState state) noexcept;
[[nodiscard]] std::string_view to_string(Reason reason) noexcept;

/// One output stream as it is shown: valid UTF-8, at most a given size, with exact counts.
struct StreamView {
  std::string text;                 ///< head, a line that says what is left out, tail
  bool base64 = false;              ///< `text` is base64 of the raw bytes from `from` to `next`
  std::uint64_t bytes = 0;          ///< all that was printed, bytes
  std::uint64_t lines = 0;          ///< all that was printed; an unfinished last line counts
  std::uint64_t missing_bytes = 0;  ///< raw bytes that `text` leaves out between head and tail
  std::uint64_t missing_lines = 0;
  std::uint64_t invalid_bytes = 0;  ///< bytes shown as U+FFFD because they are not UTF-8
  bool folded = false;              ///< text overwritten after a carriage return is left out
  std::uint64_t from = 0;           ///< offset of the first byte shown, in bytes from the start
  std::uint64_t next = 0;           ///< offset to go on reading at
  std::uint64_t stored = 0;         ///< bytes from the start that can still be read by offset
};

/// A stretch of output in the order in which it was read. What a call prints to both streams within
/// one moment is read stream by stream.
struct Segment {
  bool err = false;  ///< standard error, else standard output
  std::uint64_t bytes = 0;
};

/// A process of the call that outlived it, or that it stopped. Numbers are the host's.
struct Survivor {
  int pid = 0;
  int inside_pid = 0;  ///< the number that the session itself sees
  int pgid = 0;        ///< inside process group
  char state = '?';    ///< as in proc(5): R, S, D, T, Z, …
  std::string name;
};

/// How a shell that ended under a call was replaced.
enum class Restored {
  No,        ///< the shell did not end
  Full,      ///< from the state that the old shell wrote when it ended
  Snapshot,  ///< from the last state taken while it was idle; what this call changed is lost
  Nothing,   ///< a fresh shell: there was no state to restore
};
[[nodiscard]] std::string_view to_string(Restored restored) noexcept;

/// The result of `bash` and `exec` alike.
struct CallResult {
  std::string call;  ///< the call's id, the handle for bash_output
  std::string session;
  CallState state = CallState::Finished;
  std::optional<Reason> reason;  ///< absent while it runs
  std::optional<int> exit_code;  ///< 0..255, as a shell gives it (128 + signal for a signalled one)
  std::optional<int> signal;     ///< number of the signal that ended it
  std::vector<int> pipe_statuses;  ///< of the last pipeline; empty when not known
  std::string cwd;                 ///< of the shell after the call
  bool cwd_missing = false;        ///< that directory was deleted or moved away
  StreamView out;
  StreamView err;
  std::vector<Segment> segments;  ///< the first 256; later stretches of the last one's stream join
                                  ///< it
  bool segments_cut = false;      ///< there were more
  std::vector<std::string>
      options_reset;  ///< shell options taken back so that later calls are safe
  std::vector<Survivor> survivors;
  std::vector<Survivor> stopped_jobs;
  bool shell_restarted = false;
  Restored restored = Restored::No;
  std::string waiting_for;  ///< "stdin" or "terminal" while it runs and waits for input; or empty
  std::optional<std::string> screen;  ///< what a terminal shows now, line by line
  bool screen_addressed = false;      ///< its program placed the cursor
  std::string
      stopped_by;  ///< the last step that was needed: INT, TERM, KILL or shell_restart; or empty
  std::chrono::microseconds duration{0};
  std::optional<std::uint64_t> cpu_us;             ///< CPU time, microseconds; exec only
  std::optional<std::uint64_t> peak_memory_bytes;  ///< exec only
  /// Data of its record "shell:process-group"; absent when the caller has no recorder.
  std::optional<Json> record;
  std::string message;  ///< of a call that never ran: the parser's or the system's words
  /// Protected names that changed since the session's last result, whoever did it.
  std::vector<sandbox::ProtectedChange> protected_changes;
  /// Connections that the session was refused since its last result, whichever call asked.
  std::vector<sandbox::EgressDecision> refused_connections;
  /// What the kernel recorded as denied in the session since its last result.
  std::vector<sandbox::AuditDenial> recorded_denials;
  std::string shell;  ///< what ran the text: "bash", or "PROGRAM (snapshot)"; empty for a program
  /// What the session's next call does not find of this one's doings; only of a snapshot shell.
  std::vector<std::string> not_kept;
  std::vector<std::string> notes;  ///< what a reader must know, one sentence each
};

}  // namespace bawn::shell
