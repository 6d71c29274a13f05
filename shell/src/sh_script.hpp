/// \file
/// The text by which a POSIX sh runs one call: it takes on the state of the one before, runs the
/// call's text and writes down the state it leaves.
#pragma once

#include "sh_state.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::shell {

struct ShScript {
  std::string text;         ///< path of the call's text; empty = there is none
  std::string left_behind;  ///< path of the file for the state; empty = it is not wanted
  std::string refuge;       ///< a directory to be in when the state's own is gone
  std::string directory;    ///< for this call only; empty = the state's
  std::vector<std::pair<std::string, std::string>> variables;  ///< for this call only
  int last_status = 0;            ///< what "$?" is when the text begins
  bool prints_functions = false;  ///< the shell has `typeset -f`, or is to be asked whether
};

/// `state`: null for the first shell of a session, which begins with its environment. Any other one
/// is started with an empty environment.
[[nodiscard]] std::string sh_script(const ShScript& script, const ShState* state);

/// Whether the functions that a shell printed hold those of the script: whether it prints any.
[[nodiscard]] bool shows_functions(const ShState& state);

}  // namespace bawn::shell
