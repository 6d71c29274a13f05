#!/usr/bin/env bash
# Runs the official MCP clients against bawn mcp.
#
# usage: run.sh FOLDER install           install the pinned packages into FOLDER, once per lock file
#        run.sh FOLDER SCRIPT.mjs ARGS   run one script there; BAWN names the program under test
# exit status: 77 = skipped, with the reason, where npm or its registry is out of reach; where
# BAWN_TEST_REQUIRE names npm (or is "all") that is a failure instead.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here folder=$1 job=$2
shift 2

skip() {
  case ",${BAWN_TEST_REQUIRE:-}," in
    *,npm,* | ,all,)
      printf 'required by BAWN_TEST_REQUIRE: %s\n' "$1"
      exit 1
      ;;
  esac
  printf 'SKIPPED: %s\n' "$1"
  exit 77
}

# Errors of npm that say nothing about the packages, only that no registry answers.
readonly unreachable='ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|UNABLE_TO_|CERT_|E401|E403|E5[0-9][0-9]'

install_packages() {
  command -v npm >/dev/null || skip "npm is not installed"
  mkdir -p "$folder"
  cp "$here"/*.mjs "$folder"
  if [ -x "$folder/node_modules/.bin/node" ] && [ -d "$folder/schemas" ] &&
    cmp -s "$here/package-lock.json" "$folder/installed-lock.json"; then
    return 0
  fi
  cp "$here"/package.json "$here"/package-lock.json "$here"/.npmrc "$folder"
  local log=$folder/install.log
  if ! (cd "$folder" && npm ci --fetch-retries=1 --fetch-timeout=30000) >"$log" 2>&1; then
    if grep -Eq "$unreachable" "$log"; then
      skip "npm reaches no registry: $(grep -Em1 "$unreachable" "$log")"
    fi
    cat "$log"
    exit 1
  fi
  "$folder/node_modules/.bin/node" --version
  (cd "$folder" && node_modules/.bin/node schemas.mjs schemas)
  cp "$here/package-lock.json" "$folder/installed-lock.json"
}

if [ "$job" = install ]; then
  install_packages
  exit
fi

[ -f "$folder/installed-lock.json" ] || skip "the client packages are not installed"
: "${BAWN:?names the program under test}"
scratch=$(mktemp -d "$folder/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/home" "$scratch/workspace"
# The clients write below HOME; the first node in PATH must be the one that they ask for.
export HOME=$scratch/home WORKSPACE=$scratch/workspace PATH=$folder/node_modules/.bin:$PATH
cd "$folder"
node "$job" "$@"
