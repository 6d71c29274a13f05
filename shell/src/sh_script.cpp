#include "sh_script.hpp"

#include "driver_script.hpp"

#include <fmt/format.h>

namespace bawn::shell {

namespace {

// __b_end writes the state down, once: behind the text, or from the EXIT trap where `exit`,
// errexit, an error or a signal with a trap of ours ended it. A text with an EXIT trap of its own
// that does not come to its end, exec(1) and SIGKILL leave no state, and the server goes on with
// the one from before.
//
//   - The caller takes the status, before anything is traced: dash and ash spoil it there, since at
//     the end of a file they cannot parse a PS4 with "$(".
//   - The text's own functions may have names of builtins; special builtins cannot be redefined,
//     and `unset` is one.
//   - The options are printed, and then taken back: with errexit, nounset or xtrace the rest would
//     end, fail or print.
//   - PWD is a variable like others, and may lie; where it does, the kernel's name is taken.
//   - SIGXFSZ is ignored so that `ulimit -f` in a text costs the state and not the status.
//   - `>>`, since noclobber refuses to write to a file that exists.
//   - Functions are parsed when they are defined, before there are any aliases. What comes behind
//     the aliases quotes its command words, which keeps them from being aliases.
constexpr std::string_view kEnd = R"sh(
__b_end() {
  case $__b_done in 1) return "$__b_status" ;; esac
  __b_status=$__b_seen __b_done=1
  trap '' XFSZ
  {
    unset -f alias cd command echo export pwd readonly test typeset umask
    echo '#options'
    set +o
    set +aefuvx
    __b_directory=${PWD-}
    test . -ef "$__b_directory" || test . -ef %REFUGE% || __b_directory=$(pwd -P)
    test . -ef "$__b_directory" || { __b_directory=${PWD-} __b_missing=1; }
    echo '#variables'
    set
    echo '#exports'
    export -p
    echo '#readonly'
    readonly -p
    echo '#aliases'
    alias
    echo '#umask'
    umask
    echo '#functions'
    %FUNCTIONS%
    echo '#end'
  } >>%FILE%
  return "$__b_status"
}
)sh";

constexpr std::string_view kNoEnd = "__b_end() { __b_status=$__b_seen; }\n";

std::string end_function(const ShScript& script) {
  if (script.left_behind.empty()) {
    return std::string(kNoEnd);
  }
  std::string text(kEnd);
  const auto replace = [&](std::string_view mark, const std::string& by) {
    text.replace(text.find(mark), mark.size(), by);
  };
  replace("%FUNCTIONS%", script.prints_functions ? "typeset -f" : ":");
  replace("%REFUGE%", shell_quote(script.refuge));
  replace("%FILE%", shell_quote(script.left_behind));
  return text;
}

/// The state but for what changes how the rest of the script is read.
std::string first_part(const ShState& state, const std::string& refuge) {
  std::string text = fmt::format("cd -- {} 2>/dev/null || cd -- {}\n", shell_quote(state.directory),
                                 shell_quote(refuge));
  for (const auto& [name, word] : state.variables) {
    text += fmt::format("{}={}\n", name, word);
  }
  if (!state.variables.contains("PATH")) {
    text += "unset PATH\n";  // a shell that finds none in its environment sets one
  }
  for (const std::string& name : state.exported) {
    text += fmt::format("export {}\n", name);
  }
  for (const std::string& name : state.read_only) {
    text += fmt::format("readonly {}\n", name);
  }
  if (!state.mask.empty()) {
    text += fmt::format("umask {}\n", state.mask);
  }
  return text + state.functions;
}

std::string second_part(const ShState& state) {
  std::string text;
  for (const auto& [name, word] : state.aliases) {
    text += fmt::format("\\alias {}={}\n", shell_quote(name), word);
  }
  for (const std::string& option : state.options) {
    text += fmt::format("\\set -o {}\n", option);
  }
  return text;
}

}  // namespace

bool shows_functions(const ShState& state) {
  return state.functions.find("__b_end") != std::string::npos;
}

std::string sh_script(const ShScript& script, const ShState* state) {
  const bool exits_on_error = state != nullptr && state->options.contains("errexit");
  std::string text = "__b_done= __b_began= __b_missing= __b_status=0\n";
  text += end_function(script);
  text += fmt::format("__b_last() {{ return {}; }}\n", exits_on_error ? 0 : script.last_status);
  text += "trap '{ __b_seen=$?; __b_end; } 2>/dev/null' EXIT\ntrap 'exit 130' INT\n";
  // Behind the trap: a state that ends the shell is told from a text that does by __b_began.
  if (state != nullptr) {
    text += first_part(*state, script.refuge);
  }
  text += "__b_began=1\n";
  for (const auto& [name, value] : script.variables) {
    text += fmt::format("export {}={}\n", name, shell_quote(value));
  }
  if (!script.directory.empty()) {
    text += fmt::format("cd -- {} || exit 1\n", shell_quote(script.directory));
  }
  if (state != nullptr) {
    text += second_part(*state);
  }
  // One line: verbose prints each line that is read, and this one is read in whole before the text
  // can turn it on.
  const std::string run =
      script.text.empty() ? std::string(":") : "\\. " + shell_quote(script.text);
  return text + fmt::format(
                    "__b_last; {}; {{ __b_seen=$?; \\__b_end; }} 2>/dev/null; "
                    "\\exit \"$__b_status\"\n",
                    run);
}

}  // namespace bawn::shell
