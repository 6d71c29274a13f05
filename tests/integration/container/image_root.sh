#!/usr/bin/env bash
# usage: image_root.sh > IMAGE.tar
# The root of the tests' image: this machine's own bash and tools, with the libraries they need.
set -euo pipefail
root=$(mktemp -d "${TMPDIR:-/tmp}/bawn-image-root.XXXXXX")
trap 'rm -rf "$root"' EXIT

chmod 0755 "$root"
mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},etc,tmp,var/tmp,root,proc,sys,dev,run}
chmod 1777 "$root/tmp" "$root/var/tmp"
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
tar -C "$root" --owner=0 --group=0 --numeric-owner -c .
