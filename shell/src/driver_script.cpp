#include "driver_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace bawn::shell {

namespace {

// bash takes up to 1024 bytes at once from its standard input, a pipe, and runs what it took.
//
// bash copies the body of a function with every call of it, and a local variable costs more than
// ten others: both decide how little there is in __bs, __bd and __be.
//
// A step's line (step_line()) sets __bk, its flags: k = leave the options alone, n = there is no
//     text; and last the nonce __bi. Names of files may be seen by processes of other calls where a
//     directory can be listed (Landlock grants listing downwards from "/"); the nonce that makes a
//     report believed never is a name.
// __bs  returns the status of the step before, so that a text sees the $? that a person would.
// __bd  ends a step: from the step line, and through __be from PROMPT_COMMAND, where the line was
//     cut off by SIGINT or by an error that returns to the top level. The report is opened by path,
//     so no child ever holds a descriptor of it. __bc is where to come back to, unless empty.
//     Under nounset bash 4.4 knows no ${!-}: it is off while a report is made.
//     __be takes itself from the prompt first: an error in __bd (an attribute can make one of any
//     assignment) comes back to the prompt, which would run it again without end.
// __bt NONCE  has the next __bd report a step that was interrupted, unless it did so already.
// __bx  is the EXIT trap. It takes the options back first, since errexit would end it half-way, and
//     leaves them in __bo (| = pipefail) for the first report of the shell that comes after.
// __bv FILE  writes the shell's state; __by NONCE FILE does so and reports.
//
// A text may do to these names what it likes. What must hold is that no untrue report comes out,
// for a missing one is noticed (BashCall::look) and the shell is replaced:
//   - Paths are literals. Each variable is assigned before a report could be wrong by its old
//   value:
//     an assignment to a read-only one returns to the top level. So a line sets the nonce last,
//     without which __bd is silent, and __bd writes to those of its own before it prints.
//   - A text that left no statuses behind has returned early, was cut off, or never began because
//   `.`
//     is another thing by now; in the last case __bd is silent.
//   - `builtin` guards against functions with a builtin's name; without `builtin` nothing is
//   printed.
//     Aliases do not matter inside functions that were defined before there were any.
//   - A mark for export would give the nonce to every child, which could then report for its call:
//     __bd takes it off, and under `set -a`, where each assignment brings it back, so does the
//     line.
//
// __bv has no local variables: they would be in the state. Its order is that of restoring: what
// changes how functions are parsed, then variables, functions, and behind a mark what would disturb
// the driver of the new shell: traps and aliases.
constexpr std::string_view kFunctions = R"bash(
__bs() {
  if [[ $- != *e* ]]; then builtin return "$__bz"; fi
}
__be() {
  __b1=$?
  if [[ -n ${__bi-} ]]; then
    builtin unset -v PROMPT_COMMAND
    __bd "$__b1"
  fi
}
__bd() {
  __b1=${1-$?} __b2=0 __b3=0 __b4='\j' __b5=$-
  if [[ -z ${__bi-} ]]; then builtin return 0; fi
  __bz=$__b1
  if [[ $__bq == *' '* ]]; then
    __bz=${__bq%% *} __bq=${__bq#* }
  else
    if [[ $__bk != *n* ]]; then
      if { builtin declare -F . || ! builtin type .; } >/dev/null 2>&1; then builtin return 0; fi
    fi
    __bq=
  fi
  if [[ -o pipefail ]]; then __b2=1; fi
  if [[ -n $__bc ]]; then
    builtin cd -- "$__bc" >/dev/null 2>&1
    OLDPWD=$__bp __bc=
  fi
  __bh=${PWD-}
  if [[ ! . -ef $__bh ]]; then
    __bh=$(builtin pwd -P 2>/dev/null)
    if [[ ! . -ef $__bh ]]; then __b3=1 __bh=${PWD-}; fi
  fi
  if [[ $__b5 == *u* ]]; then builtin set +u; fi
  __bl=$__b5${__bo-} __bo= __bj=$__bi
  __bm="$__bi $__bz $__bl $__b2$__b3 ${!-} $__bq/$__bh"
  if [[ ${__b4@P} == 0 ]]; then
    builtin printf '%s\0' "$__bm"$'\1'"$__bi" >%REPORT%
  else
    {
      builtin printf '%s\0' "$__bm"
      builtin jobs -l
      builtin printf '\1%s\0' "$__bi"
    } >%REPORT%
  fi
  __bi= __bq=
  if [[ ${__bi@a} == *x* ]]; then builtin export -n __bi; fi
  if [[ $__bk == *k* ]]; then
    if [[ $__b5 == *u* ]]; then builtin set -u; fi
  elif [[ $__b2 == 1 || $- == *[etvx]* ]]; then
    builtin set +etvx +o pipefail
  fi
  if [[ $- != *m* ]]; then builtin set -m; fi
  PS1= PS0= PROMPT_COMMAND=__be
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
    builtin shopt -p
    builtin set +o
    builtin umask -p
    builtin declare -p
    builtin declare -f
    builtin printf '# later\n'
    builtin trap -p
    builtin alias -p
    builtin printf '# end of state\n'
  } >>"$1"
}
__bx() {
  __bo=$-
  if [[ -o pipefail ]]; then __bo+=\|; fi
  builtin set +etuvx +o pipefail
  if [[ -n ${FUNCNEST-} ]]; then FUNCNEST=; fi
  __bv %EXIT_STATE%
}
__by() {
  __b9=$__bz
  if [[ -n ${FUNCNEST-} ]]; then FUNCNEST=; fi
  __bv "$2"
  __bk=kn __bq= __bi=$1
  __bd
  __bz=$__b9
}
)bash";

// A function of the state that is named like a builtin of ours would end the new shell's use as it
// did the old one's. In POSIX mode special builtins are found before functions.
// That mode leaves other options changed behind it.
constexpr std::string_view kFreeNames = R"bash(__b1= __b2=$BASHOPTS
if [[ -o posix ]]; then __b1=1; fi
POSIXLY_CORRECT=1
unset -f . builtin >/dev/null 2>&1
if [[ -z $__b1 ]]; then unset POSIXLY_CORRECT; fi
for __b1 in expand_aliases inherit_errexit interactive_comments shift_verbose sourcepath; do
  if [[ :$__b2: == *:$__b1:* ]]; then builtin shopt -s "$__b1"; else builtin shopt -u "$__b1"; fi
done
)bash";

constexpr std::string_view kLaterMark = "\n# later\n";

constexpr std::string_view kSettle = R"bash(
builtin unset MAILCHECK HISTFILE __bu
builtin shopt -u extdebug checkwinsize
builtin set +H +o history
builtin history -c
builtin unset PROMPT_COMMAND
PS1= PS2= PS0= PROMPT_COMMAND=__be
)bash";

// Those that the driver of a new shell assigns to, or that its reports depend on.
constexpr std::array<std::string_view, 6> kNeeded = {"BAWN_CALL", "HISTFILE", "IFS",
                                                     "MAILCHECK", "OLDPWD",   "POSIXLY_CORRECT"};
// What a prompt would run or limit before the driver is there; without a terminal of no use.
constexpr std::array<std::string_view, 5> kDropped = {"FUNCNEST", "PROMPT_COMMAND", "PS0", "PS1",
                                                      "PS2"};
// Options that end, change or print the lines that restore the rest.
constexpr std::array<std::string_view, 5> kLate = {
    "set -o errexit", "set -o keyword", "set -o nounset", "set -o verbose", "set -o xtrace"};
// Without a terminal there are no lines to edit; and a shell would end after one line of its own.
constexpr std::array<std::string_view, 3> kNever = {"set -o emacs", "set -o onecmd", "set -o vi"};

template <std::size_t size>
bool holds(const std::array<std::string_view, size>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

/// The line without what would keep the next driver from using the variable; none for one of the
/// driver's own.
std::optional<std::string> freed_declaration(std::string_view line) {
  constexpr std::string_view kDeclare = "declare -";
  const std::size_t blank = line.find(' ', kDeclare.size());
  if (!line.starts_with(kDeclare) || blank == std::string_view::npos) {
    return std::string(line);
  }
  const std::string_view rest = line.substr(blank + 1);
  if (rest.starts_with("__b")) {
    // __bo tells the new shell which options the old one ended with.
    return line.starts_with("declare -- __bo=") ? std::optional(std::string(line)) : std::nullopt;
  }
  const std::string_view name = rest.substr(0, rest.find('='));
  if (holds(kDropped, name)) {
    return std::nullopt;
  }
  if (name != "PWD" && !holds(kNeeded, name)) {
    return std::string(line);
  }
  std::string flags(line.substr(kDeclare.size(), blank - kDeclare.size()));
  std::erase_if(flags, [](char flag) {
    return std::string_view("rilun").find(flag) != std::string_view::npos;
  });
  return fmt::format("declare -{} {}", flags.empty() ? "-" : flags, rest);
}

}  // namespace

std::string usable_state(std::string_view state) {
  std::string usable;
  std::string late;
  usable.reserve(state.size());
  if (state.ends_with(state_end())) {
    state.remove_suffix(state_end().size());
  }
  bool options = true;  // they come first; further down the same words may be anybody's
  while (!state.empty()) {
    const std::size_t end = std::min(state.find('\n'), state.size() - 1);
    const std::string_view line = state.substr(0, end);
    options = options && !line.starts_with("declare -");
    if (options && holds(kLate, line)) {
      late.append(line).push_back('\n');
    } else if (!options || !holds(kNever, line)) {
      if (const auto freed = freed_declaration(line)) {
        usable.append(*freed).push_back('\n');
      }
    }
    state.remove_prefix(end + 1);
  }
  return usable + late;
}

StateParts parts_of_state(std::string_view state) {
  const std::size_t mark = state.rfind(kLaterMark);
  return mark == std::string_view::npos
             ? StateParts{.first = state, .later = {}}
             : StateParts{.first = state.substr(0, mark + 1), .later = state.substr(mark + 1)};
}

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

std::string step_line(const StepLine& step) {
  return fmt::format("{}__bk={} __bq= BAWN_CALL={} __bi={};{}{}\\. {} <{} >{} 2>{};__bd",
                     step.come_back ? "__bc=$PWD __bp=${OLDPWD-};" : "",
                     step.keep_options ? "k" : "", shell_quote(step.marker), step.nonce,
                     step.exports_all ? "\\builtin export -n __bi;" : "",
                     step.after_failure ? "__bs;" : "", shell_quote(step.text),
                     shell_quote(step.input), shell_quote(step.output), shell_quote(step.error));
}

std::string_view text_trailer(bool traced) noexcept {
  // The status in quotes of its own: beside "[@]" bash 4.4 and 5.0 split it by an IFS of digits.
  return traced ? "\n\n{ __bq=\"$?\"\" ${PIPESTATUS[@]}\"; } 2>/dev/null\n"
                : "\n\n__bq=\"$?\"\" ${PIPESTATUS[@]}\"\n";
}

bool may_trace(std::string_view text) noexcept {
  return text.find("set") != std::string_view::npos || text.find("shopt") != std::string_view::npos;
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
    script += fmt::format("\\. {} >/dev/null 2>&1\n\\. {} >/dev/null 2>&1\n",
                          shell_quote(settings.state), shell_quote(settings.later));
    script += kFreeNames;
  }
  script +=
      "builtin trap - EXIT ERR DEBUG RETURN\n"
      "builtin unset -f __bs __bd __be __bt __bv __bx __by\n"
      "builtin unset __b1 __b2 __bo __bu\n"
      "builtin unset PROMPT_COMMAND PS1 PS2 PS0\n"
      "builtin set +m +o history\n";
  script += fmt::format("builtin export BAWN_CALL={}\n", shell_quote(settings.marker));
  if (!settings.directory.empty()) {
    script += fmt::format("builtin cd -- {} || builtin exit 1\n", shell_quote(settings.directory));
  }
  for (const auto& [name, value] : settings.variables) {
    script += fmt::format("builtin export {}={}\n", name, shell_quote(value));
  }
  script += fmt::format("__bq=\n\\. {}\n", shell_quote(settings.text));
  script += fmt::format(
      "__bz=$?\n{{ builtin printf '%s ' \"$__bq\" >{}; }} 2>/dev/null\n"
      "__bz=\"$__bq $__bz\"\n__bz=${{__bz# }}\nbuiltin exit \"${{__bz%% *}}\"\n",
      shell_quote(settings.statuses));
  return script;
}

namespace {

std::string functions(const DriverSettings& settings) {
  std::string text(kFunctions);
  for (const auto& [name, value] :
       {std::pair{"%REPORT%", &settings.report}, {"%EXIT_STATE%", &settings.exit_state}}) {
    const std::string quoted = shell_quote(*value);
    const std::string_view placeholder(name);
    for (auto at = text.find(placeholder); at != std::string::npos;
         at = text.find(placeholder, at + quoted.size())) {
      text.replace(at, placeholder.size(), quoted);
    }
  }
  return text;
}

}  // namespace

std::string driver_script(const DriverSettings& settings) {
  // All of ours goes behind the first part of a restored state, which holds what an earlier shell
  // had of it, and before the other part: a restored EXIT trap of the user's own replaces ours.
  std::string script = "set +H +o history\ntrap __bx EXIT\n";
  const bool restored = !settings.later.empty();
  if (restored) {
    script += "[[ -n ${__bu-} ]] || __bo=${__bo-}!\n";
    script += kFreeNames;
  }
  script += functions(settings);
  script += kSettle;
  if (!restored) {
    script +=
        fmt::format("[[ $PWD == {0} ]] || builtin cd -- {0}\n", shell_quote(settings.directory));
  } else {
    script +=
        fmt::format("[[ . -ef $PWD ]] || builtin cd -- {}\n", shell_quote(settings.directory));
  }
  script += fmt::format("__bk=kn __bc= __bj= __bq= __bz=0 __bi={}\n", settings.start_nonce);
  if (restored) {
    script += fmt::format("\\. {} >/dev/null 2>&1\n", shell_quote(settings.later));
  }
  return script;
}

}  // namespace bawn::shell
