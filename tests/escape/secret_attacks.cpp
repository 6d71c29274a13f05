// What must stay unread: credentials, other processes, the kernel's own.
#include "attacks.hpp"

#include <fmt/format.h>

namespace bawn::test {
namespace {

using namespace errnos;

/// Reads one after the other and is done as soon as one is read.
std::string read_any(const char* names) {
  return fmt::format(R"(for name in {}:
    try:
        open(HOME + '/' + name).read()
        break
    except OSError as error:
        last = error
else:
    raise last)",
                     names);
}

std::vector<Attack> credentials() {
  return {
      {"R01_ReadAPrivateKey", "open(HOME + '/.ssh/id_rsa').read()", kRead},
      {"R02_ReadCloudAndPackageCredentials",
       read_any("('.aws/credentials', '.config/gcloud/credentials.db', '.config/gh/hosts.yml', "
                "'.kube/config', '.docker/config.json', '.npmrc', '.pypirc', '.netrc', "
                "'.cargo/credentials.toml')"),
       kRead},
      {"R03_ReadKeyringsHistoriesAndBrowsers",
       read_any("('.gnupg/private.key', '.git-credentials', '.bash_history', "
                "'.mozilla/profile/cookies')"),
       kRead},
      {"R04_ReadTheShadowFile", "open('/etc/shadow').read()", {"EACCES", "EPERM"}, kRootOnly},
      {"R05_ReadASecretOfTheEnvironment",
       "os.environ.get('ESCAPE_API_KEY') or held('not there')",
       {"not there"}},
      {"R13_HardLinkASecretIntoTheWorkspace",
       "os.link(HOME + '/.ssh/id_rsa', WS + '/key'); open(WS + '/key').read()",
       {"EACCES", "ENOENT", "EPERM", "EXDEV"}},
      {"R14_ReadASecretThroughProcSelfRoot",
       "open('/proc/self/root' + HOME + '/.ssh/id_rsa').read()", kRead},
      {"R15_ReadASecretThroughASymlink",
       "os.symlink(HOME + '/.ssh/id_rsa', WS + '/key'); open(WS + '/key').read()", kRead},
      {"R18_ReadASecretByItsHandle",
       R"(handle = ctypes.create_string_buffer(136)
struct.pack_into('I', handle, 0, 128)
mount_id = ctypes.c_int()
call('name_to_handle_at', AT_FDCWD, (HOME + '/.ssh/id_rsa').encode(), handle,
     ctypes.byref(mount_id), 0)
os.read(call('open_by_handle_at', os.open(WS, os.O_RDONLY), handle, os.O_RDONLY), 9))",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"R24_WatchASecretDirectory",
       "fd = checked(libc.inotify_init1(0))\n"
       "checked(libc.inotify_add_watch(fd, (HOME + '/.ssh/id_rsa').encode(), 0xfff))",
       kRead, kNeedsNamespaces},
      {"R25_LookAtASecretsSize", "os.stat(HOME + '/.ssh/id_rsa')", kRead, kNeedsNamespaces},
      {"MoveTheDirectoryOfASecretAway",
       "os.rename(HOME + '/.ssh', WS + '/keys'); open(WS + '/keys/id_rsa').read()",
       {"EACCES", "EBUSY", "EXDEV", "EROFS", "EPERM"}},
  };
}

std::vector<Attack> of_processes() {
  return {
      {"R06_ReadAHostProcesssEnvironment", "open(f'/proc/{VICTIM}/environ').read()", kProcFile,
       kMayBeAbsent},
      {"R07_ReadAHostProcesssCommandLine",
       "open(f'/proc/{VICTIM}/cmdline').read() or held('empty')", kProcFile, kNeedsNamespaces},
      {"R08_OpenADescriptorOfAHostProcess", "open(f'/proc/{VICTIM}/fd/7').read()", kProcFile,
       kMayBeAbsent},
      {"R09_ReadAHostProcesssMemoryFile",
       "os.pread(os.open(f'/proc/{VICTIM}/mem', os.O_RDONLY), 8, ADDRESS)", kProcFile,
       kMayBeAbsent},
      {"R10_ReadAHostProcesssMemory",
       R"(found = ctypes.create_string_buffer(8)
call('process_vm_readv', VICTIM, iovec(ctypes.addressof(found), 8), 1, iovec(ADDRESS, 8), 1, 0))",
       kProcess, kMayBeAbsent},
      {"R11_TakeADescriptorOfAHostProcess",
       "os.read(call('pidfd_getfd', call('pidfd_open', VICTIM, 0), 7, 0), 9)",
       {"ESRCH", "EPERM", "EINVAL"},
       kMayBeAbsent},
      {"R12_ReadASecretThroughTheRootOfAHostProcess",
       "open(f'/proc/{VICTIM}/root' + HOME + '/.ssh/id_rsa').read()", kProcFile, kMayBeAbsent},
      {"R26_TraceAHostProcess",
       "call('ptrace', 16, VICTIM, 0, 0); os.waitpid(VICTIM, 0x40000000); "
       "call('ptrace', 17, VICTIM, 0, 0)",
       kProcess, kMayBeAbsent},
      {"P19_SeeAHostProcess", "os.stat(f'/proc/{VICTIM}')", kProcFile, kNeedsNamespaces},
  };
}

std::vector<Attack> of_the_kernel() {
  return {
      {"R20_ReadAKeyOfTheHostsKeyring",
       R"(key = call('keyctl', 10, -3, b'user', TOKEN.encode(), 0)
call('keyctl', 11, key, ctypes.create_string_buffer(16), 16))",
       {"EPERM"},
       kMayBeAbsent},
      {"R21_ReadTheKernelsLog",
       "call('syslog', 3, ctypes.create_string_buffer(64), 64)",
       {"EPERM"},
       kMayBeAbsent},
      {"R22_ReadKernelAddresses",
       R"(lines = open('/proc/kallsyms').read(4000).splitlines()
any(int(line.split()[0], 16) for line in lines[:-1]) or held('zeroes'))",
       {"zeroes", "EACCES", "EPERM", "ENOENT"},
       kRootOnly | kMayBeAbsent},
      {"R22_ReadWhereTheKernelsMemoryLies",
       R"(len(open('/proc/vmallocinfo').read()) > 0 or held('empty'))",
       {"EACCES", "EPERM", "ENOENT", "empty"},
       kRootOnly | kMayBeAbsent | kNeedsNamespaces},
      {"R23_WatchAWholeFileSystem",
       "fd = call('fanotify_init', 0, 0); call('fanotify_mark', fd, 0x101, 0x20, AT_FDCWD, b'/')",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
  };
}

}  // namespace

std::vector<Attack> secret_attacks() {
  std::vector<Attack> all = credentials();
  for (const auto& some : {of_processes(), of_the_kernel()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace bawn::test
