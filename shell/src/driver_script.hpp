/// \file
/// The bash text that every shell sources once when it starts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::shell {

/// What the script is told about its session.
struct DriverSettings {
  std::string report = {};       ///< path of the report FIFO
  std::string exit_state = {};   ///< path of the file for the state at exit
  std::string start_nonce = {};  ///< the report that says that the shell is ready
  std::string later = {};      ///< path of the second part of a state whose first part was restored
  std::string directory = {};  ///< where to be when there is no state, or its directory is gone
};

/// The text of the start file.
[[nodiscard]] std::string driver_script(const DriverSettings& settings);

/// Sources the text at `path` in another directory (empty = where the shell is) and with variables
/// exported for as long as it runs.
[[nodiscard]] std::string wrapper_script(
    const std::string& path, const std::string& directory,
    const std::vector<std::pair<std::string, std::string>>& variables);

/// What a bash of its own is told that runs one text beside the session's shell.
struct AsideSettings {
  std::string state;      ///< path of the first part of the shell's state; empty = none
  std::string later;      ///< path of its second part
  std::string text;       ///< path of the text
  std::string statuses;   ///< path of the file that gets the pipe statuses
  std::string marker;     ///< BAWN_CALL
  std::string directory;  ///< empty = as the state says
  std::vector<std::pair<std::string, std::string>> variables;
};

/// The program text of such a bash.
[[nodiscard]] std::string aside_script(const AsideSettings& settings);

/// `text` as one word of bash that stands for itself.
[[nodiscard]] std::string shell_quote(std::string_view text);

/// One line that runs a step in a shell with the driver.
struct StepLine {
  std::string nonce = {};
  std::string marker = {};  ///< BAWN_CALL
  std::string text = {};    ///< path of what is sourced
  std::string input = {};   ///< paths of the three streams
  std::string output = {};
  std::string error = {};
  bool keep_options = false;
  bool come_back = false;      ///< to the directory of before, at the end
  bool after_failure = false;  ///< the step before had a status that is not 0
  bool exports_all = false;    ///< `set -a` is on
};
[[nodiscard]] std::string step_line(const StepLine& step);

/// Put behind a call's text, in the same file: keeps the status and pipe statuses of its last
/// command. The empty lines end a trailing backslash or comment. `traced`: hidden from a shell that
/// prints what it runs (xtrace), for the price of eleven system calls.
[[nodiscard]] std::string_view text_trailer(bool traced) noexcept;

/// Whether the text holds a word that turns xtrace on; not by way of a file that it sources.
[[nodiscard]] bool may_trace(std::string_view text) noexcept;

/// A saved state without what would keep a driver from using its own names: its variables, and
/// attributes such as read-only on PWD, IFS and the like. The end mark is not in it.
[[nodiscard]] std::string usable_state(std::string_view state);

struct StateParts {
  std::string_view first;  ///< what a driver is sourced behind
  std::string_view later;  ///< what would disturb it: traps, aliases, options that end a shell
};
[[nodiscard]] StateParts parts_of_state(std::string_view state);

/// Put behind the first part: what a driver looks for, to see that all of it was read.
inline constexpr std::string_view kStateRead = "__bu=1\n";

/// Ends a state file; one without it was cut short.
[[nodiscard]] std::string_view state_end() noexcept;

}  // namespace bawn::shell
