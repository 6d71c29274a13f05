#!/usr/bin/env bash
# A subset of LTP's programs for system calls, each once as it is and once inside the wall. A program
# that passes outside and is refused inside is a call that the wall closes.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: BAWN=PROGRAM ltp.sh SOURCE
  SOURCE  LTP's source tree, configured, with its lib built:
          make autotools && ./configure && make -C lib
Prints a table and the counts; 77 where there is no such tree.
TEXT
}

# Kernel surface that the wall is about, and calls that it must leave alone.
readonly programs=(
  ptrace/ptrace01 ptrace/ptrace02 keyctl/keyctl01 keyctl/keyctl02 add_key/add_key01 request_key/request_key01
  bpf/bpf_map01 bpf/bpf_prog01 perf_event_open/perf_event_open01 io_uring/io_uring01 userfaultfd/userfaultfd01
  mount/mount02 umount2/umount2_01 pivot_root/pivot_root01 chroot/chroot01 chroot/chroot02 unshare/unshare01
  setns/setns01 init_module/init_module01 delete_module/delete_module01 swapon/swapon01 swapoff/swapoff01
  acct/acct02 iopl/iopl01 ioperm/ioperm01 openat2/openat201 openat2/openat202 pidfd_getfd/pidfd_getfd01
  pidfd_open/pidfd_open01 pidfd_send_signal/pidfd_send_signal01 move_mount/move_mount01 open_tree/open_tree01
  fsopen/fsopen01 fsmount/fsmount01 fsconfig/fsconfig01 mount_setattr/mount_setattr01
  name_to_handle_at/name_to_handle_at01 open_by_handle_at/open_by_handle_at01 sethostname/sethostname01
  setdomainname/setdomainname01 settimeofday/settimeofday01 adjtimex/adjtimex01 clock_settime/clock_settime01
  syslog/syslog11 mknod/mknod01 setxattr/setxattr01 kill/kill02 tgkill/tgkill01 memfd_create/memfd_create01
  personality/personality01 seccomp/seccomp01 prctl/prctl01 prctl/prctl02 cma/process_vm01 kcmp/kcmp01
  landlock/landlock01 landlock/landlock02 landlock/landlock03 landlock/landlock04 landlock/landlock05
  landlock/landlock06 landlock/landlock07 landlock/landlock08 landlock/landlock09 landlock/landlock10)

if [ $# -ne 1 ] || [ "$1" = --help ]; then
  usage
  exit 2
fi
source=$(realpath "$1")/testcases/kernel/syscalls
if [ ! -f "$source/../../../lib/libltp.a" ]; then
  printf 'ltp: %s has no LTP with its lib built, so nothing was run\n' "$1"
  exit 77
fi
bawn=$(realpath "${BAWN:?names the program under test}")
work=$(mktemp -d -p /var/tmp)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp" "$work/logs"
for program in "${programs[@]}"; do
  make -s -C "$source/${program%/*}" "${program#*/}" >>"$work/logs/make" 2>&1 || true
  [ ! -x "$source/$program" ] || cp "$source/$program" "$work"
done
make -s -C "$source/landlock" landlock_exec >>"$work/logs/make" 2>&1 || true
[ ! -x "$source/landlock/landlock_exec" ] || cp "$source/landlock/landlock_exec" "$work"

# judge NAME PREFIX...: runs, refused (its set-up or what it tests), or skips.
judge() {
  local name=$1 status=0 output
  shift
  output=$(cd "$work" && TMPDIR=$work/tmp PATH=$work:$PATH LTP_COLORIZE_OUTPUT=n timeout 60 "$@" "./$name" 2>&1 \
    </dev/null) || status=$?
  if [ "$status" -eq 0 ] && grep -q TPASS <<<"$output"; then
    echo runs
  elif grep -qE 'TFAIL|TBROK' <<<"$output"; then
    echo refused
  else
    echo skips
  fi
}

declare -A counts=()
for program in "${programs[@]}"; do
  name=${program#*/}
  [ -x "$work/$name" ] || continue
  outside=$(judge "$name" env)
  inside=$(judge "$name" "$bawn" run --workspace "$work" --)
  counts["outside $outside"]=$((${counts["outside $outside"]:-0} + 1))
  counts["inside $inside"]=$((${counts["inside $inside"]:-0} + 1))
  printf '%-24s outside %-8s inside %s\n' "$name" "$outside" "$inside"
done
for key in "outside runs" "outside refused" "outside skips" "inside runs" "inside refused" "inside skips"; do
  printf '%s: %s\n' "$key" "${counts[$key]:-0}"
done
