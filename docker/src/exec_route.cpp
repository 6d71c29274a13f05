#include "exec_route.hpp"

#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace bawn::container {

// Both scripts are for any POSIX shell and use what is built into every one of them, since an image
// may have nothing else. `read` of dash, busybox, bash and mksh leaves NUL bytes out (tried).
//
// The shell itself takes no INT and TERM, so that it is there to tell the status; what it starts
// has them as usual. Its own words about a command that a signal ended ("Terminated") go nowhere.
// It stays until its input ends: an engine's command may lose what comes just before its end.
const std::string_view kCallScript = R"sh(n='
'
trap : INT TERM HUP QUIT
IFS= read -r l || exit 125
eval "$l" || { printf '%s\n' "bawn-$1 nodir" >&2; exit 125; }
s=
while IFS= read -r l || [ -n "$l" ]; do s="$s $l"; done </proc/$$/stat
printf '%s\n' "bawn-$1 up$s" >&2
IFS= read -r l || exit 125
exec 3>&2 2>/dev/null
(
trap - INT TERM HUP QUIT
exec 2>&3 3>&-
eval "$l"
)
s=$?
printf '%s\n' "bawn-$1 $s"
printf '%s\n' "bawn-$1 $s" >&3
while IFS= read -r l; do :; done
)sh";

// A name of a process may hold line feeds, so the lines of /proc/PID/stat are joined; a mark is
// looked for in every line of its environment. At the end of its input it collects what carries the
// session's mark, is of a session that such a process leads, or a child of one, and kills until it
// finds nothing; stopped first, no shell goes on when its command ends before it.
const std::string_view kControlScript = R"sh(n='
'
trap '' INT TERM HUP QUIT TSTP TTIN TTOU
N=$1 P=$2 B=$3 D=$4
b_stat() {
  s=
  { while IFS= read -r x || [ -n "$x" ]; do s="$s$x "; done <"/proc/$1/stat"; } 2>/dev/null
  [ -n "$s" ]
}
b_mark() {
  m=
  { while IFS= read -r x || [ -n "$x" ]; do
    case $x in *"BAWN_EXEC=$P"*) m=${x#*"BAWN_EXEC=$P"} m=${m%%[!0-9]*}; break ;; esac
  done <"/proc/$1/environ"; } 2>/dev/null
}
b_list() {
  for d in /proc/[0-9]*; do
    p=${d#/proc/}
    b_stat "$p" && b_mark "$p" && :
    [ -z "$s" ] || printf '%s|%s\n' "$m" "$s"
  done
}
b_one() {
  b_stat "${1%:*}" || return 1
  p=${1%:*} w=${1#*:} g=$2
  set -- ${s##*) }
  c=$1
  shift 19
  [ "$1" = "$w" ] && kill -"$g" "$p" 2>/dev/null || return 1
  case $c$g in [Tt]INT | [Tt]TERM | [Tt]HUP) kill -CONT "$p" 2>/dev/null ;; esac
}
b_kill() {
  k=$1 q=0
  shift
  for o; do b_one "$o" "$k" && q=$((q + 1)); done
  printf '%s\n' "$q"
}
b_get() {
  [ -f "$1" ] && [ ! -h "$1" ] || return 0
  if command -v head >/dev/null 2>&1; then head -c "$2" <"$1"; return 0; fi
  while IFS= read -r x || [ -n "$x" ]; do printf '%s\n' "$x"; done <"$1"
}
b_put() { rm -f "$1" 2>/dev/null; printf '%s' "$2" >"$1"; }
b_parse() { LC_ALL=C "$1" -n "$2" 2>&1 </dev/null; printf '\n%s\n' "$?"; }
b_who() {
  u= g=
  while read -r k a e r; do case $k in Uid:) u=$e ;; Gid:) g=$e ;; esac; done </proc/$$/status
  b_stat $$
  printf '%s %s %s|%s\n' "$u" "$g" "$D" "$s"
}
b_near() {
  set -- "$1" ${s##*) }
  case $2 in Z | X) return 1 ;; esac
  f=$5
  case $v in *" $3 "*) return 0 ;; esac
  case $y in *" $5 "*) return 0 ;; esac
  b_mark "$1"
  [ -n "$m" ]
}
b_end() {
  i=0
  while [ "$i" -lt 50 ]; do
    i=$((i + 1)) v=' ' y=' ' j=1
    while [ -n "$j" ]; do
      j=
      for d in /proc/[0-9]*; do
        p=${d#/proc/}
        case $v in *" $p "*) continue ;; esac
        [ "$p" = $$ ] || ! b_stat "$p" || ! b_near "$p" || {
          v="$v$p " j=1
          [ "$f" != "$p" ] || y="$y$f "
        }
      done
    done
    [ "$v" != ' ' ] || break
    kill -STOP $v 2>/dev/null
    kill -KILL $v 2>/dev/null
  done
  [ -z "$D" ] || rm -rf "$D"
}
umask 077
if [ -z "$D" ]; then
  for d in /tmp /var/tmp /dev/shm /run; do
    if mkdir "$d/$B" "$d/$B/r" "$d/$B/w" 2>/dev/null; then D=$d/$B; break; fi
  done
fi
b_who
printf '\n%s\n' "bawn-$N"
while IFS= read -r l; do
  eval "$l"
  printf '\n%s\n' "bawn-$N"
done
b_end 2>/dev/null
)sh";

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += R"('\'')";
    } else if (letter == '\n') {
      word += R"('"$n"')";
    } else {
      word += letter;
    }
  }
  return word + "'";
}

Result<ExecClient> ExecRoute::start(const std::vector<std::string>& variables,
                                    std::string_view script,
                                    const std::vector<std::string>& arguments) const {
  os::Pipe input = BAWN_TRY(os::Pipe::make());
  os::Pipe output = BAWN_TRY(os::Pipe::make());
  os::Pipe errors = BAWN_TRY(os::Pipe::make());
  for (const int fd : {input.write.get(), output.read.get(), errors.read.get()}) {
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
      return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make an engine's pipes"));
    }
  }
  os::SpawnOptions run;
  run.program = engine->address().command;
  run.argv = {run.program};
  const auto add = [&](const std::vector<std::string>& words) {
    run.argv.insert(run.argv.end(), words.begin(), words.end());
  };
  add(engine->address().options);
  add({"exec", "--interactive"});
  for (const std::string& variable : variables) {
    add({"--env", variable});
  }
  add(options);
  add({container, "sh", "-c", std::string(script), "sh"});
  add(arguments);
  run.env = engine->environment();
  run.fds = {{input.read.get(), 0}, {output.write.get(), 1}, {errors.write.get(), 2}};
  return ExecClient{.process = BAWN_TRY(os::spawn(run)),
                    .input = std::move(input.write),
                    .output = std::move(output.read),
                    .errors = std::move(errors.read)};
}

}  // namespace bawn::container
