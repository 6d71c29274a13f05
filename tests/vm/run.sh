#!/usr/bin/env bash
# Runs test programs in a virtual machine with another kernel: for what this machine's kernel or its
# set-up does not have, such as cgroup v2 with its controllers, or an older Landlock.
#
# The machine has no disk: its root is an initramfs made of the programs, the libraries they need, a
# shell and the usual tools. Emulated where there is no /dev/kvm that works, which is slow and enough.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: run.sh --bawn BAWN_PROGRAM [OPTIONS] -- TEST_PROGRAM [ARGS]
  --kernel VMLINUZ  what to boot; default: what BAWN_VM_KERNEL names
  --user N     run the test program as this user, alone in a cgroup that was handed over to it
  --memory MB  of the machine (1024)
  --kvm        with /dev/kvm
  --require LIST  what the test may not skip, as in BAWN_TEST_REQUIRE
  --with PATH  one more file or directory for the machine, at the same path (repeatable)
Exits as the test program did; 77 when there is no qemu-system-x86_64, busybox or kernel.
A kernel: apt-get download linux-image-6.12-cloud-amd64's newest, dpkg-deb -x, boot/vmlinuz-*.
TEXT
}

skip() {
  printf 'vm: %s, so nothing was run\n' "$*"
  exit 77
}

kernel=${BAWN_VM_KERNEL:-} bawn='' user=0 memory=1024 accel=tcg,thread=multi cpu=max require='' files=()
while [ $# -gt 0 ]; do
  case $1 in
    --kernel) kernel=${2:?} && shift ;;
    --bawn) bawn=$(realpath "${2:?}") && shift ;;
    --user) user=${2:?} && shift ;;
    --memory) memory=${2:?} && shift ;;
    --require) require=${2:?} && shift ;;
    --with) files+=("${2:?}") && shift ;;
    --kvm) accel=kvm cpu=host ;;
    --) shift && break ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
if [ $# -eq 0 ] || [ -z "$bawn" ]; then
  usage >&2 && exit 2
fi
[ -f "$kernel" ] || skip "there is no kernel at '$kernel' (BAWN_VM_KERNEL)"
for tool in qemu-system-x86_64 busybox; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done
test_program=$(realpath "$1")
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{dev,etc,home,proc,run,sys,tmp,usr/bin,usr/sbin,usr/lib,usr/lib64,var/lib,var/tmp,root}
ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
chmod 1777 "$root/tmp" "$root/var/tmp"

# With the libraries that it names.
add() {
  local file
  for file in "$1" $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
  done
}
add "$bawn"
add "${bawn%/*}/bawn-warden"
add "$test_program"
strip --strip-debug "$root$bawn" "$root$test_program" 2>/dev/null || true
for name in bash dash busybox cat cut cmp head tail true wc sleep seq mkfifo setsid sed grep unshare ls env setpriv; do
  add "$(realpath "$(type -P "$name")")"
  [ -e "$root/usr/bin/$name" ] || ln -s "$(realpath "$(type -P "$name")")" "$root/usr/bin/$name"
done
ln -sf dash "$root/usr/bin/sh"
for file in "${files[@]}"; do
  if [ -d "$file" ]; then
    mkdir -p "$root$(dirname "$(realpath "$file")")"
    cp -a "$(realpath "$file")" "$root$(dirname "$(realpath "$file")")"
    find "$file" -name '*.so' -type f | while read -r library; do
      add "$library"
    done
    continue
  fi
  add "$(realpath "$file")"
  [ -e "$root$file" ] || ln -s "$(realpath "$file")" "$root$file"
done
printf 'root:x:0:0:root:/root:/bin/sh\nann:x:%s:%s:ann:/home:/bin/sh\n' 1000 1000 >"$root/etc/passwd"
printf 'root:x:0:\nann:x:1000:\n' >"$root/etc/group"

# By exec, so that the program is alone in its cgroup.
{
  printf 'exec '
  printf '%q ' "$test_program" "$@"
} >"$root/command"
cat >"$root/init" <<'TEXT'
#!/usr/bin/busybox sh
b=/usr/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev 2>/dev/null
$b mkdir -p /dev/pts /dev/shm
$b mount -t devpts devpts /dev/pts
$b mount -t tmpfs tmpfs /dev/shm
$b mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
$b ip link set lo up
export PATH=/usr/bin HOME=/root TERM=dumb BAWN_TEST_REQUIRE=REQUIRE
user=USER
if [ "$user" -ne 0 ]; then
  home=/sys/fs/cgroup/handed-over
  echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
  $b mkdir $home
  $b chown $user $home $home/cgroup.procs $home/cgroup.subtree_control $home/cgroup.threads
  export HOME=/tmp
  $b sh -c "echo \$\$ >$home/cgroup.procs; exec setpriv --reuid $user --regid $user --clear-groups $b sh -c '$(cat /command)'"
else
  $b sh -c "$(cat /command)"
fi
echo "vm: status $?"
$b poweroff -f
TEXT
sed -i "s/user=USER/user=$user/; s/=REQUIRE/=$require/" "$root/init"
chmod 755 "$root/init"
chmod 644 "$root/command"
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initramfs"

timeout 600 qemu-system-x86_64 -accel "$accel" -cpu "$cpu" -smp 2 -m "$memory" -nographic -no-reboot \
  -nic none -kernel "$kernel" -initrd "$work/initramfs" \
  -append "console=ttyS0 panic=-1 quiet loglevel=3" </dev/null 2>&1 | tr -d '\r' | tee "$work/log"
status=$(sed -n 's/^vm: status //p' "$work/log" | tail -n 1)
exit "${status:-70}"
