#!/usr/bin/env bash
# usage: dockerd.sh start|stop FOLDER
# A Docker daemon for tests only: its own root, socket and no part in the machine's network. Its
# socket's path goes to FOLDER/socket; where it cannot run, the reason goes to FOLDER/skipped.
set -euo pipefail
what=$1 folder=$2
mkdir -p "$folder"
rm -f "$folder"/{socket,skipped,env}

stop() {
  local root pid
  root=$(cat "$folder/root" 2>/dev/null) || return 0
  if pid=$(cat "$root/guard.pid" 2>/dev/null); then
    kill -TERM "$pid" 2>/dev/null || true
    tail --pid="$pid" -f /dev/null
  fi
  rm -rf "$root" "$folder/root"
}
stop
[ "$what" = start ] || exit 0

give_up() { printf '%s\n' "$*" | tee "$folder/skipped"; stop; exit 0; }
[ "$(id -u)" -eq 0 ] || give_up "dockerd needs root"
# A newer client may come first in PATH; the daemon and its helpers are found beside each other.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
command -v dockerd >/dev/null || give_up "there is no dockerd"
command -v curl >/dev/null || give_up "there is no curl to ask dockerd with"

# Below /tmp: containerd's sockets lie deep in it, and their paths must be short.
root=$(mktemp -d /tmp/bawn-dockerd.XXXXXX)
echo "$root" >"$folder/root"
: >"$root/log"  # there before anybody waits for a line in it
# The guard ends it when an aborted test run never calls stop.
setsid timeout --kill-after=20 3600 dockerd --data-root "$root/data" --exec-root "$root/exec" \
  --pidfile "$root/pid" --host "unix://$root/socket" --storage-driver=vfs --bridge=none \
  --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false --userland-proxy=false \
  --exec-opt native.cgroupdriver=cgroupfs >>"$root/log" 2>&1 </dev/null &
guard=$!
echo "$guard" >"$root/guard.pid"
# The daemon says so itself when it listens; the log ends with it when it fails.
timeout 60 tail --pid="$guard" -n +1 -f "$root/log" 2>/dev/null | grep -q -m 1 'API listen on' || true
[ "$(curl -s --max-time 30 --unix-socket "$root/socket" http://engine/_ping)" = OK ] ||
  give_up "dockerd does not start here: $(grep -v level=info "$root/log" | tail -n 1)"
echo "$root/socket" >"$folder/socket"
