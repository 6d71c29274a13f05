#!/usr/bin/env bash
# usage: engine.sh FOLDER
# Makes Podman usable for tests without touching the machine's own: its storage and settings in
# FOLDER, and there the image localhost/bawn-test:1 from this machine's own bash and tools. The
# variables that lead to it go to FOLDER/env. Exits 77 with a reason where there is no Podman.
set -euo pipefail
folder=$1

skip() { printf '%s\n' "$*" >&2; exit 77; }
command -v podman >/dev/null || skip "there is no podman"
runtime=$(command -v runc || command -v crun) || skip "there is neither runc nor crun"

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
# Each test is a process of its own: one of them does the work for all.
[ ! -f "$folder/env" ] || exit 0

limit() { local value; value=$(ulimit "$1"); [ "$value" != unlimited ] && [ "$value" -lt "$2" ] && echo "$value" || echo "$2"; }
cat >"$folder/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$(limit -Hn 1048576):$(limit -Hn 1048576)", "nproc=$(limit -Hu 32768):$(limit -Hu 32768)"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "$(basename "$runtime")"
CONF
# vfs copies instead of mounting, so that nothing stays mounted when the tests are over.
cat >"$folder/storage.conf" <<CONF
[storage]
driver = "vfs"
graphroot = "$folder/storage"
runroot = "$folder/run"
CONF
export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf
if [ "$(id -u)" -ne 0 ]; then
  export XDG_RUNTIME_DIR=$folder/runtime
  mkdir -p "$XDG_RUNTIME_DIR"
  chmod 0700 "$XDG_RUNTIME_DIR"
fi

fill_root() {
  local root=$1 tool file library
  chmod 0755 "$root"
  mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},etc,tmp,var/tmp,root,proc,sys,dev,run}
  chmod 1777 "$root/tmp" "$root/var/tmp"
  local name
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
  for tool in bash sh cat ls sleep setsid touch mkdir rm mv true false env head tail dd id stat kill \
    readlink printf sed grep sort wc seq nohup chmod cp ln find tr cut date uname; do
    file=$(type -P "$tool" || true)
    [ -n "$file" ] || continue
    cp -L "$file" "$root/usr/bin/$tool"
    # Lines "name => path (address)" and "path (address)".
    while read -r library; do
      mkdir -p "$root$(dirname "$library")"
      [ -e "$root$library" ] || cp -L "$library" "$root$library"
    done < <(ldd "$file" 2>/dev/null | grep -o '/[^ ]*' || true)
  done
  printf 'root:x:0:0:root:/root:/bin/bash\nagent:x:1000:1000:agent:/tmp:/bin/bash\n' >"$root/etc/passwd"
  printf 'root:x:0:\nagent:x:1000:\n' >"$root/etc/group"
}

if ! podman image exists localhost/bawn-test:1 2>"$folder/error"; then
  root=$(mktemp -d "$folder/root.XXXXXX")
  trap 'rm -rf "$root"' EXIT
  fill_root "$root"
  tar -C "$root" --owner=0 --group=0 --numeric-owner -c . |
    podman import --quiet --change "ENV PATH=/usr/bin" --change "ENV IMAGE_SAYS=hello" - localhost/bawn-test:1 \
      >/dev/null 2>"$folder/error" || skip "podman cannot import an image here: $(tail -n 1 "$folder/error")"
fi
podman run --rm --network none --pull never localhost/bawn-test:1 true 9>&- 2>"$folder/error" ||
  skip "podman cannot run a container here: $(tail -n 1 "$folder/error")"
printf 'CONTAINERS_CONF=%s\nCONTAINERS_STORAGE_CONF=%s\n' "$CONTAINERS_CONF" "$CONTAINERS_STORAGE_CONF" >"$folder/env"
[ "$(id -u)" -eq 0 ] || printf 'XDG_RUNTIME_DIR=%s\n' "$XDG_RUNTIME_DIR" >>"$folder/env"
