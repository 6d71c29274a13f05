// Mounts, namespaces and roots; devices and the kernel's own files.
#include "attacks.hpp"

namespace bawn::test {
namespace {

using namespace errnos;

std::vector<Attack> topology() {
  return {
      {"F29_MountInANewUserNamespace",
       "call('unshare', 0x10020000); mount('none', OUT, 'tmpfs', 0)", kSyscall, kMayBeAbsent},
      {"F30_RemountTheRootForWriting",
       "private_mounts(); mount(None, '/', None, MS_REMOUNT | MS_BIND)",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
      {"F31_BindTheOutsideIntoTheWorkspace",
       "private_mounts(); os.mkdir(WS + '/m'); mount(OUT, WS + '/m', None, MS_BIND); "
       "write_to(WS + '/m/file')",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
      {"F32_WriteThroughADetachedCloneOfAMount",
       R"(private_mounts()
tree = call('open_tree', AT_FDCWD, OUT.encode(), 1)
call('mount_setattr', tree, b'', AT_EMPTY_PATH, struct.pack('4Q', 0, 1, 0, 0), 32)
os.write(os.open('file', os.O_WRONLY, dir_fd=tree), b'changed'))",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"F33_LeaveAChangedRoot", "os.chroot(WS); os.chdir('..')", {"EPERM"}, kRootOnly},
      {"R16_UnmountTheMaskOfASecret",
       R"(private_mounts()
if libc.umount2((HOME + '/.ssh').encode(), 2) < 0 and ctypes.get_errno() != errno.EINVAL:
    raise_errno()
open(HOME + '/.ssh/id_rsa').read())",
       {"EPERM", "EACCES"},
       kRootOnly},
      {"R17_CloneTheMountBelowAMask",
       "tree = call('open_tree', AT_FDCWD, HOME.encode(), 1)\n"
       "os.read(os.open('.ssh/id_rsa', os.O_RDONLY, dir_fd=tree), 9)",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
      {"R19_OverlayWithASecretBelow",
       R"(private_mounts()
os.mkdir(WS + '/o')
mount('none', WS + '/o', 'overlay', 0, 'lowerdir=' + HOME + '/.ssh:' + OUT)
open(WS + '/o/id_rsa').read())",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
      {"K01_MakeAUserNamespace", "call('unshare', 0x10000000)", kSyscall, kMayBeAbsent},
      {"K02_CloneIntoAUserNamespace",
       R"(pid = call('clone', 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0))",
       kSyscall, kMayBeAbsent},
      {"K03_CloneByTheNewCall",
       R"(pid = call('clone3', struct.pack('11Q', 0x10000000, 0, 0, 0, signal.SIGCHLD, *[0] * 6), 88)
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0))",
       {"ENOSYS"},
       kMayBeAbsent},
      {"K12_OpenAFileSystem", "call('fsopen', b'tmpfs', 0)", {"EPERM"}, kRootOnly | kMayBeAbsent},
      {"K13_MountOverADirectory",
       "private_mounts(); mount('none', OUT, 'tmpfs', 0)",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
      {"K14_PivotTheRoot",
       "reaches([errno.ENOENT], 'pivot_root', b'/nothing/here', b'/nothing/here/old')",
       {"EPERM"},
       kRootOnly},
      {"P11_EnterTheNamespaceOfAHostProcess",
       "call('setns', os.open(f'/proc/{VICTIM}/ns/uts', os.O_RDONLY), 0)",
       {"EPERM", "ENOENT", "EACCES"},
       kRootOnly},
      {"N22_MakeANetworkNamespaceOfAUserNamespace", "call('unshare', 0x50000000)", kSyscall,
       kMayBeAbsent},
  };
}

std::vector<Attack> devices() {
  return {
      {"F34_MakeANodeOfTheRootDisk",
       "os.mknod(WS + '/disk', 0o60600, os.stat('/').st_dev)",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
      {"F35_OpenADisk",
       R"(import stat
disks = ['/dev/' + name for name in ('vda', 'sda', 'nvme0n1', 'xvda', 'loop0')]
os.open(next((d for d in disks if os.path.exists(d)), '/dev/vda'), os.O_RDONLY))",
       {"ENOENT", "EACCES", "EPERM"},
       kRootOnly | kMayBeAbsent},
      {"K26_OpenTheKernelsLog", "os.open('/dev/kmsg', os.O_RDONLY)", kProcFile,
       kRootOnly | kMayBeAbsent},
      {"K26_OpenAVirtualMachineOrTunnel",
       R"(devices = ['/dev/kvm', '/dev/fuse', '/dev/net/tun', '/dev/vhost-vsock', '/dev/mem', '/dev/tty0']
os.open(next((d for d in devices if os.path.exists(d)), devices[0]), os.O_RDWR))",
       kProcFile, kRootOnly | kMayBeAbsent},
      {"F42_OpenCorePatternForWriting", "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
       kWrite, kRootOnly},
      {"F43_OpenOtherKnobsForWriting", "os.open('/proc/sys/vm/drop_caches', os.O_WRONLY)", kWrite,
       kRootOnly},
      {"F43_OpenTheMagicKeyForWriting",
       "os.open('/proc/sysrq-trigger', os.O_WRONLY)",
       {"EACCES", "EROFS", "EPERM", "ENOENT"},
       kRootOnly | kMayBeAbsent},
      {"F44_OpenAControlGroupForWriting",
       R"(import glob
os.open((glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True) or
         ['/sys/fs/cgroup/cgroup.procs'])[0], os.O_WRONLY))",
       {"EACCES", "EROFS", "EPERM", "ENOENT"},
       kRootOnly | kMayBeAbsent},
      {"F45_MountControlGroups",
       "private_mounts(); os.mkdir(WS + '/cg'); mount('none', WS + '/cg', 'cgroup2', 0)",
       {"EPERM", "EACCES"},
       kRootOnly | kMayBeAbsent},
  };
}

}  // namespace

std::vector<Attack> mount_attacks() {
  std::vector<Attack> all = topology();
  for (const Attack& one : devices()) {
    all.push_back(one);
  }
  return all;
}

}  // namespace bawn::test
