#!/usr/bin/env bash
# usage: engine.sh podman|docker FOLDER
#        engine.sh end FOLDER
# Makes an engine usable for tests without touching the machine's own: Podman with storage and
# settings in FOLDER; Docker by the daemon that dockerd.sh started, or by the one whose socket
# BAWN_TEST_DOCKER_SOCKET names. Puts the image localhost/bawn-test:1 there, and the variables that
# lead to the engine into FOLDER/env. Exits 77 with a reason where there is no such engine.
# "end" ends what Podman keeps running, and removes its runtime directory.
set -euo pipefail
kind=$1 folder=$2
if [ "$kind" = end ]; then
  for folder in "$folder" "$folder-$(id -u)"; do
    [ -f "$folder/storage.conf" ] || continue
    runtime=$(sed -n 's/^runroot = "\(.*\)\/run"$/\1/p' "$folder/storage.conf")
    if [ -n "$runtime" ] && [ -d "$runtime" ]; then
      kill "$(cat "$runtime/libpod/tmp/pause.pid" 2>/dev/null)" 2>/dev/null || true
      rm -rf "$runtime"
    fi
    rm -f "$folder/env"
  done
  exit 0
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
image=localhost/bawn-test:1
# An engine that does not answer must cost each test a sentence and not its whole time.
patience=60

skip() {
  printf '%s\n' "$*" >"$folder/skipped"
  cat "$folder/skipped" >&2
  exit 77
}
last_words() { tail -n 1 "$folder/error"; }
ask() { timeout --kill-after=5 "$patience" "$@" 9>&- 2>"$folder/error"; }

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
# Each test is a process of its own: one of them does the work for all.
[ ! -f "$folder/env" ] || exit 0
if [ -f "$folder/skipped" ]; then
  cat "$folder/skipped" >&2
  exit 77
fi

limit() {
  local value
  value=$(ulimit "$1")
  if [ "$value" != unlimited ] && [ "$value" -lt "$2" ]; then echo "$value"; else echo "$2"; fi
}

use_podman() {
  local runtime runtime_directory
  command -v podman >/dev/null || skip "there is no podman"
  runtime=$(command -v runc || command -v crun) || skip "there is neither runc nor crun"
  cat >"$folder/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$(limit -Hn 1048576):$(limit -Hn 1048576)", "nproc=$(limit -Hu 32768):$(limit -Hu 32768)"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "$(basename "$runtime")"
CONF
  # A short one: with a runroot of more than 50 characters Podman's own clean-up fails: containers
  # stay when they end, and each end takes 20 s. And always the same one: its data base remembers it.
  runtime_directory=/tmp/bawn-run-$(printf '%s' "$folder" | cksum | cut -d ' ' -f 1)
  mkdir -m 0700 "$runtime_directory" 2>/dev/null || [ -O "$runtime_directory" ] ||
    skip "$runtime_directory belongs to somebody else"
  # vfs copies instead of mounting, so that nothing stays mounted when the tests are over.
  cat >"$folder/storage.conf" <<CONF
[storage]
driver = "vfs"
graphroot = "$folder/storage"
runroot = "$runtime_directory/run"
CONF
  printf '%s\n' "CONTAINERS_CONF=$folder/containers.conf" \
    "CONTAINERS_STORAGE_CONF=$folder/storage.conf" "HOME=${HOME:-/}" "PATH=$PATH" >"$folder/variables"
  if [ "$(id -u)" -ne 0 ]; then
    printf 'XDG_RUNTIME_DIR=%s\n' "$runtime_directory" >>"$folder/variables"
  fi
  engine=podman
  options=(--log-level=error)
}

use_docker() {
  local socket=${BAWN_TEST_DOCKER_SOCKET:-}
  [ -n "$socket" ] || socket=$(cat "$folder/socket" 2>/dev/null) ||
    skip "no dockerd was started for the tests (dockerd.sh start $folder), and BAWN_TEST_DOCKER_SOCKET names none"
  command -v docker >/dev/null || skip "there is no docker command"
  # Without podman in its PATH the tests' engine is Docker alone.
  mkdir -p "$folder/bin"
  ln -sf "$(command -v docker)" "$folder/bin/docker"
  printf '%s\n' "DOCKER_HOST=unix://$socket" "HOME=$folder" "PATH=$folder/bin" >"$folder/variables"
  engine=docker
  options=()
}

case $kind in
  podman) use_podman ;;
  docker) use_docker ;;
  *) echo "engine.sh: unknown engine $kind" >&2; exit 2 ;;
esac
set -a
# shellcheck source=/dev/null
. "$folder/variables"
set +a
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

if ! ask "$engine" "${options[@]}" image inspect "$image" >/dev/null; then
  "$here/image_root.sh" >"$folder/root.tar"
  ask "$engine" "${options[@]}" import --change "ENV PATH=/usr/bin" --change "ENV IMAGE_SAYS=hello" \
    "$folder/root.tar" "$image" >/dev/null || skip "$engine cannot import an image here: $(last_words)"
  rm -f "$folder/root.tar"
fi
ask "$engine" "${options[@]}" run --rm --network none --pull never "$image" true ||
  skip "$engine cannot run a container here: $(last_words)"
mv "$folder/variables" "$folder/env"
