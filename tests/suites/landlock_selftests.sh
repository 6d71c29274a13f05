#!/usr/bin/env bash
# The kernel's own Landlock selftests on this machine: what its Landlock holds, which bawn builds upon.
# They need root: their fixtures set and drop capabilities, so inside a wall they are no oracle.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: landlock_selftests.sh SOURCE
  SOURCE  a kernel's source tree with tools/, include/, scripts/, arch/x86, usr/, Makefile, Kbuild, Kconfig;
          on Debian: apt-get download linux-source-6.12, dpkg-deb -x, tar -xf usr/src/*.tar.xz
Needs gcc, make, rsync, libcap-dev, flex, bison. Prints one line of counts for each program; 77 without root or source.
TEXT
}

if [ $# -ne 1 ] || [ "$1" = --help ]; then
  usage
  exit 2
fi
source=$(realpath "$1")
if [ "$(id -u)" -ne 0 ] || [ ! -d "$source/tools/testing/selftests/landlock" ]; then
  printf 'selftests: they need root and a kernel source, so nothing was run\n'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -C "$source" headers_install INSTALL_HDR_PATH="$work/headers" >"$work/log" 2>&1
mkdir "$work/bin"
make -C "$source/tools/testing/selftests/landlock" KHDR_INCLUDES="-isystem $work/headers/include" \
  OUTPUT="$work/bin" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2 && exit 1; }
cd "$work/bin"
for program in ./*_test; do
  timeout 300 "$program" >"$work/result" 2>&1 || true
  printf '%-28s %s\n' "${program#./}" "$(sed -n 's/^# Totals: //p' "$work/result" | tail -n 1)"
  sed -n 's/^not ok [0-9]* /    /p' "$work/result"
done
