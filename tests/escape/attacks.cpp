#include "attacks.hpp"

namespace bawn::test {
namespace {

const std::vector<std::string> kNoWrite = {"EACCES", "EROFS", "EPERM"};
/// The filter says "not supported", so that cp and tar go on without attributes.
const std::vector<std::string> kNoAttribute = {"EACCES", "EROFS", "EPERM", "ENOTSUP"};
const std::vector<std::string> kNoLink = {"EACCES", "EROFS", "EPERM", "EXDEV"};
const std::vector<std::string> kNoProcess = {"ESRCH", "EPERM"};
const std::vector<std::string> kNoConnection = {"ECONNREFUSED", "ENETUNREACH",  "EACCES",
                                                "EPERM",        "EAFNOSUPPORT", "ENOENT"};
const std::vector<std::string> kNoSyscall = {"EPERM", "ENOSYS"};

std::vector<Attack> file_attacks() {
  return {
      {"CreateAFileOutside", "os.close(os.open(OUT + '/new', os.O_CREAT | os.O_WRONLY))", kNoWrite},
      {"OverwriteAFileOutside", "os.write(os.open(OUT + '/file', os.O_WRONLY), b'x')", kNoWrite},
      {"AppendToAFileOutside", "os.write(os.open(OUT + '/file', os.O_APPEND | os.O_WRONLY), b'x')",
       kNoWrite},
      {"TruncateByPath", "os.truncate(OUT + '/file', 0)", kNoWrite},
      {"TruncateByReadOnlyOpen", "os.open(OUT + '/file', os.O_RDONLY | os.O_TRUNC)", kNoWrite},
      {"UnlinkOutside", "os.unlink(OUT + '/file')", kNoWrite},
      {"RenameOutside", "os.rename(OUT + '/file', OUT + '/other')", kNoWrite},
      {"MakeADirectoryOutside", "os.mkdir(OUT + '/made')", kNoWrite},
      {"WriteThroughASymlink",
       "os.symlink(OUT + '/file', WS + '/link'); os.open(WS + '/link', os.O_WRONLY)", kNoWrite},
      {"CreateThroughADirectorySymlink",
       "os.symlink(OUT, WS + '/dir'); os.open(WS + '/dir/new', os.O_CREAT | os.O_WRONLY)",
       kNoWrite},
      {"WriteByDotDot", "os.chdir(WS); os.open(os.path.relpath(OUT) + '/file', os.O_WRONLY)",
       kNoWrite},
      {"WriteThroughProcSelfRoot", "os.open('/proc/self/root' + OUT + '/file', os.O_WRONLY)",
       kNoWrite},
      {"HardLinkIntoTheWorkspace",
       "os.link(OUT + '/file', WS + '/hard'); os.open(WS + '/hard', os.O_WRONLY)", kNoLink},
      {"MoveAFileOut", "open(WS + '/mine', 'w').close(); os.rename(WS + '/mine', OUT + '/theirs')",
       kNoLink},
      {"ChangeAModeOutside", "os.chmod(OUT + '/file', 0o600)", kNoWrite, false, true},
      {"ChangeTimesOutside", "os.utime(OUT + '/file', (1, 1))", kNoWrite, false, true},
      {"SetAnAttributeOutside", "os.setxattr(OUT + '/file', 'user.bawn', b'x')", kNoAttribute,
       false, false, true},
      {"SetUserIdBitInTheWorkspace",
       "open(WS + '/prog', 'w').close(); os.chmod(WS + '/prog', 0o4755)", kNoWrite},
      {"OpenCorePatternForWriting", "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
       kNoWrite, true},
      {"WriteAGitHook", "open(WS + '/.git/hooks/pre-commit', 'w').close()", kNoWrite, false, true},
      {"ChangeTheGitConfig", "open(WS + '/.git/config', 'a').close()", kNoWrite, false, true},
      {"MoveTheGitDirectoryAway",
       "os.rename(WS + '/.git', WS + '/old')",
       {"EBUSY", "EACCES", "EXDEV"},
       false,
       true},
      {"WriteAnEnvrc", "open(WS + '/.envrc', 'w').close()", kNoWrite, false, true},
      {"ReadAPrivateKey", "open(HOME + '/.ssh/id_rsa').read()", {"EACCES", "ENOENT", "EPERM"}},
      {"ReadCloudCredentials",
       "open(HOME + '/.aws/credentials').read()",
       {"EACCES", "ENOENT", "EPERM"}},
      {"ReadASecretThroughASymlink",
       "os.symlink(HOME + '/.ssh/id_rsa', WS + '/key'); open(WS + '/key').read()",
       {"EACCES", "ENOENT", "EPERM"}},
      {"ReadTheShadowFile", "open('/etc/shadow').read()", {"EACCES", "EPERM"}, true},
  };
}

std::vector<Attack> process_attacks() {
  return {
      {"SignalAHostProcess", "os.kill(VICTIM, 18)", kNoProcess},
      {"TraceAHostProcess",
       "call(101, 16, VICTIM, 0, 0); os.waitpid(VICTIM, 0x40000000); call(101, 17, VICTIM, 0, 0)",
       kNoProcess},
      {"ReadAHostProcesssMemoryFile",
       "os.open(f'/proc/{VICTIM}/mem', os.O_RDONLY)",
       {"EACCES", "ENOENT", "EPERM"}},
      {"ReadAHostProcesssEnvironment",
       "open(f'/proc/{VICTIM}/environ').read()",
       {"EACCES", "ENOENT", "EPERM"}},
      {"SlowAHostProcessDown", "os.setpriority(os.PRIO_PROCESS, VICTIM, 5)", kNoProcess},
      {"PinAHostProcess", "os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))", kNoProcess},
      {"LimitAHostProcess",
       "import resource; resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))", kNoProcess},
      {"MakeAUserNamespace", "call(272, 0x10000000)", kNoSyscall},
      {"MountOverADirectory",
       "libc.mount(b'none', OUT.encode(), b'tmpfs', 0, None) and raise_errno(); "
       "libc.umount2(OUT.encode(), 2)",
       {"EPERM", "EACCES"},
       true},
      {"MakeABpfMap",
       "import struct; call(321, 0, ctypes.create_string_buffer(struct.pack('4I', 2, 4, 4, 1), "
       "128), 128)",
       kNoSyscall, true, false, true},
      {"AddAKey", "call(248, b'user', b'bawn-escape-test', b'x', 1, ctypes.c_int(-1))", kNoSyscall},
      {"HandleUserFaults", "call(323, 1)", kNoSyscall, false, false, true},
      {"SetUpIoUring", "buf = ctypes.create_string_buffer(120); call(425, 1, buf)", kNoSyscall,
       false, false, true},
  };
}

std::vector<Attack> network_attacks() {
  return {
      {"ConnectToALocalService", "socket.create_connection(('127.0.0.1', PORT), 5)", kNoConnection},
      {"SendByFastOpen", "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', PORT))",
       kNoConnection},
      {"ConnectToAUnixSocketByPath", "socket.socket(socket.AF_UNIX).connect(SOCKET)",
       kNoConnection},
      {"ConnectToAnAbstractUnixSocket",
       "socket.socket(socket.AF_UNIX).connect('\\0bawn-escape-' + str(PORT))", kNoConnection},
      {"OpenAVsock",
       "socket.socket(40, socket.SOCK_STREAM)",
       {"EAFNOSUPPORT", "EPERM", "EACCES"},
       false,
       false,
       true},
      {"OpenARawSocket",
       "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
       {"EAFNOSUPPORT", "EPERM", "EACCES"},
       true},
      {"OpenAPacketSocket",
       "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
       {"EAFNOSUPPORT", "EPERM", "EACCES"},
       true,
       false,
       true},
  };
}

}  // namespace

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> kAll = [] {
    std::vector<Attack> all = file_attacks();
    for (const auto& more : {process_attacks(), network_attacks()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace bawn::test
