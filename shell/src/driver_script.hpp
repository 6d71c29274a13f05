/// \file
/// The bash text that every shell sources once when it starts.
#pragma once

#include <string>
#include <string_view>

namespace bawn::shell {

/// What the script is told about its session.
struct DriverSettings {
  std::string read_side;    ///< ends with '/'
  std::string write_side;   ///< ends with '/'
  std::string report;       ///< path of the report FIFO
  std::string exit_state;   ///< path of the file for the state at exit
  std::string marker;       ///< prefix of BAWN_CALL
  std::string start_nonce;  ///< the report that says that the shell is ready
  std::string snapshot;     ///< path of a state to restore; empty = none
  std::string directory;    ///< where to be when there is no state, or its directory is gone
};

/// The text of the start file.
[[nodiscard]] std::string driver_script(const DriverSettings& settings);

/// `text` as one word of bash that stands for itself.
[[nodiscard]] std::string shell_quote(std::string_view text);

/// Put behind a call's text, in the same file: keeps the status and pipe statuses of its last
/// command. The empty lines end a trailing backslash or comment.
[[nodiscard]] std::string_view text_trailer() noexcept;

/// Ends a state file; one without it was cut short.
[[nodiscard]] std::string_view state_end() noexcept;

}  // namespace bawn::shell
