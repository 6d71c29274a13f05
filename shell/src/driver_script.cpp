#include "driver_script.hpp"

#include <fmt/format.h>

namespace bawn::shell {

namespace {

// Names are short because bash reads its standard input, a pipe, one byte per read(2).
//
// __bs NONCE NAME NUMBER FLAGS  begins a step: the file that the step sources is r/NAME, its
//     streams are w/NAME.o and w/NAME.e. FLAGS: i = there is an input file, k = leave the options
//     alone, c = come back to this directory at the end. It returns the status of the step before,
//     so that a text sees the $? that a person would. Names may be seen by processes of other calls
//     where a directory can be listed (Landlock grants listing downwards from "/"); the nonce that
//     makes a report believed never is a name.
// __bd  ends a step: from the step line, and again from PROMPT_COMMAND, where the line was cut off
//     by SIGINT or by an error that returns to the top level. The report is opened by path, so no
//     child ever holds a descriptor of it.
// __bt NONCE  has the next __bd report a step that was interrupted, unless it did so already.
// __bx  is the EXIT trap. It takes the options back first, since errexit would end it half-way, and
//     leaves them in __bo (P = pipefail) for the first report of the shell that comes after.
// __bv FILE  writes the shell's state; __by NONCE NAME does so into w/NAME and reports.
//
// `set -a` would export the nonce to every child, which could then report for its call; export -n
// each time, since the mark stays on a variable.
//
// `builtin` guards against functions with a builtin's name; aliases do not matter inside functions
// that were defined before there were any. No local variables in __bv: they would be in the state.
constexpr std::string_view kFunctions = R"bash(
__bs() {
  __bi=$1 __bg=$2 BAWN_CALL=$__bm$3 __bk=${4-} __bq=() __b0=/dev/null __bc=
  if [[ $__bk == *c* ]]; then __bc=$PWD __bp=${OLDPWD-}; fi
  builtin export -n __bi
  if [[ $__bk == *i* ]]; then __b0=$__br$2.i; fi
  if [[ $- == *e* ]]; then builtin return 0; fi
  builtin return "$__bz"
}
__bd() {
  builtin local __b1=$? __b2=0 __b3=0 IFS=' '
  if [[ -z $__bi ]]; then builtin return 0; fi
  __bz=$__b1
  if ((${#__bq[@]} > 1)); then __bz=${__bq[0]}; fi
  if [[ -o pipefail ]]; then __b2=1; fi
  if [[ -n $__bc ]]; then
    builtin cd -- "$__bc" >/dev/null 2>&1
    OLDPWD=$__bp __bc=
  fi
  if [[ ! . -ef ${PWD-} ]]; then __b3=1; fi
  {
    builtin printf '%s\0' "$__bi" "$__bz" "${__bq[*]:1}" "$-${__bo-}" "$__b2" "$__b3" "${PWD-}"
    builtin jobs -l
    builtin printf '\1%s\0' "$__bi"
  } >"$__bf"
  __bj=$__bi __bi= __bo=
  if [[ $__bk != *k* ]]; then builtin set +euvx +o pipefail; fi
  if [[ $- != *m* ]]; then builtin set -m; fi
  PROMPT_COMMAND=__bd
  builtin return 0
}
__bt() {
  if [[ $__bj == "$1" ]]; then builtin return "$__bz"; fi
  __bi=$1
  builtin return 130
}
__bv() {
  {
    if [[ . -ef $PWD ]]; then builtin printf 'builtin cd -- %q\n' "$PWD"; fi
    builtin declare -f
    builtin alias -p
    builtin shopt -p
    builtin set +o
    builtin umask -p
    builtin trap -p
    builtin declare -p
    builtin printf '# end of state\n'
  } >>"$1"
}
__bx() {
  __bo=$-
  if [[ -o pipefail ]]; then __bo+=P; fi
  builtin set +euvx +o pipefail
  __bv "$__be"
}
__by() {
  __b9=$__bz
  __bv "$__bw$2"
  __bi=$1 __bk=k __bq=()
  __bd
  __bz=$__b9
}
)bash";

constexpr std::string_view kSettle = R"bash(
builtin unset MAILCHECK HISTFILE
builtin shopt -u extdebug checkwinsize
builtin set +H +o history
builtin history -c
PS1= PS2= PS0= PROMPT_COMMAND=__bd
)bash";

}  // namespace

std::string shell_quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string_view text_trailer() noexcept {
  return "\n\n{ __bq=(\"$?\" \"${PIPESTATUS[@]}\"); } 2>/dev/null\n";
}

std::string_view state_end() noexcept {
  return "# end of state\n";
}

std::string wrapper_script(const std::string& path, const std::string& directory,
                           const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string script;
  if (!directory.empty()) {
    script += fmt::format("builtin cd -- {} || builtin return 1\n", shell_quote(directory));
  }
  for (const auto& [name, value] : variables) {
    script += fmt::format("{}={} ", name, shell_quote(value));
  }
  return script + fmt::format("\\. {}\n", shell_quote(path));
}

std::string aside_script(const AsideSettings& settings) {
  // No monitor mode: the call's processes stay in one group, which a terminal can have in front.
  std::string script;
  if (!settings.state.empty()) {
    script += fmt::format("\\. {} >/dev/null 2>&1\n", shell_quote(settings.state));
  }
  script +=
      "builtin trap - EXIT ERR DEBUG RETURN\n"
      "builtin unset -f __bs __bd __bt __bv __bx __by\n"
      "builtin unset __br __bw __bf __be __bm __bg __bi __bj __bk __bo __bz __b0 __b9 __bc __bp\n"
      "builtin unset PROMPT_COMMAND PS1 PS2 PS0\n"
      "builtin set +m +o history\n";
  script += fmt::format("builtin export BAWN_CALL={}\n", shell_quote(settings.marker));
  if (!settings.directory.empty()) {
    script += fmt::format("builtin cd -- {} || builtin exit 1\n", shell_quote(settings.directory));
  }
  for (const auto& [name, value] : settings.variables) {
    script += fmt::format("builtin export {}={}\n", name, shell_quote(value));
  }
  script += fmt::format("__bq=()\n\\. {}\n", shell_quote(settings.text));
  script += fmt::format(
      "__bz=$?\n{{ builtin printf '%s ' \"${{__bq[@]}}\" >{}; }} 2>/dev/null\n"
      "builtin exit \"${{__bq[0]:-$__bz}}\"\n",
      shell_quote(settings.statuses));
  return script;
}

std::string driver_script(const DriverSettings& settings) {
  // The EXIT trap goes first so that a restored one of the user's own replaces it; everything else
  // of ours goes behind the restored state, which holds what an earlier shell had of it.
  std::string script = "set +H +o history\ntrap __bx EXIT\n";
  if (!settings.snapshot.empty()) {
    script += fmt::format("builtin . {} >/dev/null 2>&1\n", shell_quote(settings.snapshot));
  }
  script += kFunctions;
  for (const auto& [name, value] : {std::pair{"__br", &settings.read_side},
                                    {"__bw", &settings.write_side},
                                    {"__bf", &settings.report},
                                    {"__be", &settings.exit_state},
                                    {"__bm", &settings.marker}}) {
    script += fmt::format("{}={}\n", name, shell_quote(*value));
  }
  script += kSettle;
  if (settings.snapshot.empty()) {
    script +=
        fmt::format("[[ $PWD == {0} ]] || builtin cd -- {0}\n", shell_quote(settings.directory));
  } else {
    script +=
        fmt::format("[[ . -ef $PWD ]] || builtin cd -- {}\n", shell_quote(settings.directory));
  }
  script += fmt::format("__bk= __bc= __bj= __bq=() __bz=0 __bi={}\n", settings.start_nonce);
  return script;
}

}  // namespace bawn::shell
