// What a text does to the shell's own names, options and traps must not make a later answer untrue:
// either the statuses stay right, or the call says that the shell was lost.
#include "driver_script.hpp"
#include "session_fixture.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace bawn::test {
namespace {

using shell::CallResult;
using shell::Reason;
using ::testing::ElementsAre;

struct Hostile {
  const char* name;
  const char* text;
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class Immunity : public SessionTest, public ::testing::WithParamInterface<Hostile> {
 protected:
  /// Whether the answer admits that the shell could not be asked.
  static bool admitted(const CallResult& result) {
    return result.shell_restarted || result.reason == Reason::ShellLost;
  }
};

TEST_P(Immunity, StatusesStayRightOrTheLossIsSaid) {
  sh("cd /; V=kept");
  ASSERT_TRUE(session_->restart(contract::Context(), true));
  const CallResult hostile = sh(std::string(GetParam().text) + "\n(exit 5)");
  EXPECT_TRUE(hostile.exit_code == 5 || admitted(hostile)) << hostile.exit_code.value_or(-1);

  const CallResult status = sh("(exit 7)");
  EXPECT_TRUE(status.exit_code == 7 || admitted(status)) << status.exit_code.value_or(-1);

  const CallResult pipeline = sh("/bin/false | /bin/true | (exit 3)");
  if (!admitted(pipeline)) {
    EXPECT_EQ(pipeline.exit_code, 3);
    EXPECT_THAT(pipeline.pipe_statuses, ElementsAre(1, 0, 3));
  }
  const CallResult moved = sh("\\cd /usr; /bin/echo out; /bin/echo err >&2");
  if (!admitted(moved)) {
    EXPECT_EQ(moved.cwd, "/usr");
    EXPECT_EQ(moved.out.text, "out\n");
    EXPECT_THAT(moved.err.text, ::testing::HasSubstr("err\n"));
  }
  // Whatever happened, a shell answers, and one that was replaced has the state from before.
  const CallResult last = sh("/bin/echo \"[$V]\"");
  EXPECT_TRUE(last.out.text == "[kept]\n" || admitted(last)) << last.out.text;
  EXPECT_TRUE(session_->alive());
}

constexpr Hostile kHostile[] = {
    {"control", ":"},
    {"builtin", "builtin() { return 0; }"},
    {"builtin_that_lies", "builtin() { command builtin \"$@\"; return 0; }"},
    {"dot", "function . { return 0; }"},
    {"source", "source() { return 0; }"},
    {"printf", "printf() { return 0; }"},
    {"command", "command() { return 0; }"},
    {"eval", "eval() { return 0; }"},
    {"trap", "trap() { return 0; }"},
    {"set", "set() { return 0; }"},
    {"jobs", "jobs() { return 0; }"},
    {"local", "local() { return 0; }"},
    {"export", "export() { return 0; }; declare() { return 0; }; unset() { return 0; }"},
    {"return", "return() { :; }"},
    {"enable", "enable() { return 0; }"},
    {"type", "type() { return 0; }"},
    {"pwd", "pwd() { echo /nowhere; }"},
    {"all_of_them",
     "for f in builtin printf command eval trap set jobs local export declare unset source enable "
     "cd; do "
     "eval \"function $f { :; }\" 2>/dev/null; done"},
    {"disabled_printf", "enable -n printf"},
    {"disabled_builtin", "enable -n builtin"},
    {"disabled_local", "enable -n local"},
    {"disabled_return", "enable -n return"},
    {"disabled_set", "enable -n set"},
    {"disabled_jobs", "enable -n jobs"},
    {"disabled_export", "enable -n export"},
    {"disabled_declare", "enable -n declare"},
    {"disabled_type", "enable -n type"},
    {"disabled_dot", "enable -n ."},
    {"disabled_everything", "enable -n $(compgen -b | grep -v -x enable) enable"},
    {"own_functions_gone", "unset -f __bs __bd __be __bt __bv __bx __by"},
    {"own_functions_replaced",
     "__bd() { :; }; __bs() { :; }; __be() { :; }; __by() { :; }; __bt() { :; }; __bv() { :; }; "
     "__bx() { :; }"},
    {"own_function_read_only", "readonly -f __bs __bd __be"},
    {"readonly_status", "readonly __bz"},
    {"readonly_nonce", "readonly __bi"},
    {"readonly_report", "readonly __bm"},
    {"readonly_parts_of_the_report", "readonly __b1 __b2 __b3 __b4 __bh __bl"},
    {"readonly_statuses", "readonly __bq"},
    {"readonly_flags", "readonly __bk __bc __bj __bo __bp"},
    {"variables_gone",
     "unset __b1 __b2 __b3 __b4 __b9 __bc __bh __bi __bj __bk __bl __bm __bo __bp __bq __bz"},
    {"variables_changed",
     "__b4=x __bh=/nowhere __bj=x __bk=x __bl=x __bm=x __bo=x __bp=x __bq=x __bz=x"},
    {"variables_with_attributes",
     "declare -i __bz __bi __bm 2>/dev/null; declare -u __bi __bm; declare -l __bj"},
    // Assigning a text to them is an arithmetic error, which goes back to the prompt.
    {"variables_that_count", "declare -i __b1 __b2 __b3 __b4 __bh __bl __bm __bo __bq"},
    {"status_is_a_reference", "declare -n __bz=other"},
    {"marker_read_only", "readonly BAWN_CALL"},
    {"pwd_read_only", "readonly PWD OLDPWD"},
    {"pwd_gone", "unset PWD OLDPWD"},
    {"pwd_lies", "PWD=/nowhere"},
    {"prompt_command_read_only", "readonly PROMPT_COMMAND"},
    {"prompt_command_read_only_and_false", "PROMPT_COMMAND=false; readonly PROMPT_COMMAND"},
    {"prompt_command_gone", "unset PROMPT_COMMAND"},
    {"prompt_command_changed", "PROMPT_COMMAND='(exit 9)'"},
    {"prompt_command_an_array", "unset PROMPT_COMMAND; PROMPT_COMMAND=(false '(exit 9)')"},
    {"ifs_empty", "IFS="},
    {"ifs_of_digits", "IFS=0123456789"},
    {"ifs_read_only", "IFS=x; readonly IFS"},
    {"physical_directories", "set -P"},
    {"nounset", "set -u"},
    {"errexit", "set -e; true"},
    {"noexec", "set -n"},
    {"verbose", "set -vx"},
    {"noglob", "set -f"},
    {"noclobber", "set -C"},
    {"allexport", "set -a"},
    {"onecmd", "set -t"},
    {"keyword", "set -k"},
    {"privileged", "set -p"},
    {"no_braces", "set +B"},
    {"no_monitor", "set +m"},
    {"notify", "set -b"},
    {"posix_option", "set -o posix"},
    {"posix_variable", "POSIXLY_CORRECT=1"},
    {"posix_with_functions", "export() { return 0; }; set -o posix"},
    {"inherit_errexit", "shopt -s inherit_errexit lastpipe failglob nullglob extdebug"},
    {"nocasematch", "shopt -s nocasematch nocaseglob"},
    {"compat", "BASH_COMPAT=3.1"},
    {"no_aliases", "shopt -u expand_aliases; unalias -a"},
    {"aliases_of_keywords", "alias if=: then=: fi=: builtin=: .=: echo=:"},
    {"debug_trap", "trap ':' DEBUG"},
    {"failing_debug_trap", "trap '(exit 9)' DEBUG"},
    {"functrace", "set -T; trap false DEBUG"},
    {"debug_trap_that_skips", "shopt -s extdebug; trap 'false' DEBUG"},
    {"err_trap", "trap '(exit 9)' ERR; set -E"},
    {"return_trap", "set -T; trap false RETURN"},
    {"exit_trap", "trap ':' EXIT"},
    {"chld_trap", "trap 'false' CHLD"},
    {"interrupt_trap", "trap '(exit 9)' INT TERM HUP"},
    {"trap_that_redefines", "trap 'builtin() { :; }; IFS=7' DEBUG"},
    {"path_gone", "PATH="},
    {"env_gone", "unset -v $(compgen -v | grep -v '^__b\\|^V$') 2>/dev/null"},
    {"positional", "set -- a b c; shift 2"},
    {"locale", "LC_ALL=en_US.UTF-8; LANG=xx; export LC_ALL"},
    {"umask", "umask 777"},
    {"files_closed", "exec 0<&- 1>&- 2>&-"},
    {"files_opened", "exec 3>&1 4>&2 9</dev/null"},
    {"size_limit", "ulimit -f 0"},
    {"process_limit", "ulimit -u 1 2>/dev/null"},
    {"function_depth", "FUNCNEST=1"},
    {"history", "set -o history -H; HISTFILE=/tmp/x"},
    {"ps_variables", "PS1='$(exit 9)' PS2=x PS4='$(exit 9)'; PS0='$(exit 9)'"},
    {"bash_env", "BASH_ENV=/nowhere; ENV=/nowhere"},
    {"substituted_state", "BASHOPTS=x 2>/dev/null; SHELLOPTS=x 2>/dev/null; :"},
    {"tmout", "TMOUT=1"},
};

// A name that the driver gave up would make its case try nothing.
TEST(ImmunityCases, NameOnlyWhatTheDriverHas) {
  const std::string driver =
      shell::driver_script({.report = "/w/report", .exit_state = "/w/x", .start_nonce = "n"}) +
      shell::step_line({.nonce = "n", .come_back = true}) + std::string(shell::text_trailer(false));
  for (const Hostile& hostile : kHostile) {
    const std::string_view text = hostile.text;
    for (std::size_t at = text.find("__b"); at < text.size() - 3; at = text.find("__b", at + 1)) {
      const std::string_view name = text.substr(at, 4);
      if (name.back() != '\\') {  // a pattern of all of them
        EXPECT_NE(driver.find(name), std::string::npos) << hostile.name << ": " << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, Immunity, ::testing::ValuesIn(kHostile),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace bawn::test
