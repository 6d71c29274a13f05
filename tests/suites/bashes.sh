#!/usr/bin/env bash
# The tests of the persistent shell with other versions of bash than the machine's own.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: BUILD=FOLDER bashes.sh BASH...
  BUILD  a build with the programs and the tests (build/release)
  BASH   programs to test, each of any name and place; of a source tree of bash, after
         ./configure --disable-nls && make, it is ./bash. Versions before 5.2 need a C compiler's
         CFLAGS="-std=gnu89 -w"; a static one against musl:
         CC=musl-gcc ./configure --disable-nls --without-bash-malloc --enable-static-link
Prints, for each, what failed, and the counts.
TEXT
}

if [ $# -eq 0 ] || [ "$1" = --help ]; then
  usage
  exit 2
fi
build=$(realpath "${BUILD:-build/release}")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
failed=0
for bash in "$@"; do
  BAWN_TEST_BASH=$(realpath "$bash")
  export BAWN_TEST_BASH
  # shellcheck disable=SC2016 # expanded by the shell that is tried
  printf '== %s\n' "$("$bash" -c 'echo "bash $BASH_VERSION ($MACHTYPE)"')"
  python3 "$here/../integration/behaviour/behaviours.py" "$build/bin/bawn" | grep -v '^ok ' || true
  for tests in shell_parts_test shell_session_test cases_test; do
    "$build/bin/$tests" --gtest_brief=1 2>&1 | grep -E '^\[  (FAILED|PASSED|SKIPPED)' || true
    [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
  done
done
exit "$failed"
