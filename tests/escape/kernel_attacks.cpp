// Rarely needed and dangerous system calls, and other ways into the kernel.
#include "attacks.hpp"

#include <fmt/format.h>

namespace bawn::test {
namespace {

using namespace errnos;

std::string second_abi(const char* name) {
  return fmt::format(R"(run = subprocess.run([SECOND_ABI, '{}'], stdout=subprocess.PIPE)
if run.returncode < 0:
    held('killed')
run.stdout == b'done\n' or held(run.stdout.decode().strip()))",
                     name);
}

std::vector<Attack> surface() {
  return {
      {"K05_HandleUserFaults", "call('userfaultfd', 1)", kSyscall, kMayBeAbsent},
      {"K06_MakeABpfMap",
       "call('bpf', 0, ctypes.create_string_buffer(struct.pack('4I', 2, 4, 4, 1), 128), 128)",
       kSyscall, kRootOnly | kMayBeAbsent},
      {"K07_CountEvents",
       R"(attributes = ctypes.create_string_buffer(struct.pack('2IQ', 1, 128, 0), 128)
struct.pack_into('Q', attributes, 40, 0x60)
call('perf_event_open', attributes, 0, -1, -1, 0))",
       kSyscall, kMayBeAbsent},
      {"K08_AddAKey", "call('add_key', b'user', b'bawn-escape-test', b'x', 1, -1)", kSyscall,
       kMayBeAbsent},
      {"K09_N19_EnterByThirtyTwoBits",
       second_abi("i386"),
       {"EPERM", "ENOSYS", "killed"},
       kMayBeAbsent},
      {"K10_EnterByX32", second_abi("x32"), {"EPERM", "ENOSYS", "killed"}, kMayBeAbsent},
      {"K11_MakeDataExecutable", "call('personality', 0x400000)", {"EPERM"}},
      {"K15_ChangeTheSegmentTable", "call('modify_ldt', 0, ctypes.create_string_buffer(16), 16)",
       kSyscall, kMayBeAbsent},
      {"K23_CallWhatIsHardlyUsed",
       R"(def quiet(name, *args):
    try:
        call(name, *args)
        return 0
    except OSError as error:
        return error.errno
answers = {quiet(name, *[0] * 6) for name in ('quotactl', 'quotactl_fd', 'migrate_pages',
           'move_pages', 'lookup_dcookie', 'lsm_list_modules')}
if answers <= {errno.EPERM, errno.ENOSYS}:
    held('closed'))",
       {"closed"}},
  };
}

/// Permission is checked first, then the arguments, which are wrong.
std::vector<Attack> administration() {
  return {
      {"K16_AskForPorts", "call('iopl', 3)", kSyscall, kRootOnly | kMayBeAbsent},
      {"K17_Reboot",
       "reaches([errno.EINVAL], 'reboot', 0, 0, 0, 0)",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"K18_SetTheClock", "call('settimeofday', 0, 0)", {"EPERM"}, kMayBeAbsent},
      {"K19_StopSwapping",
       "reaches([errno.ENOENT], 'swapoff', b'/nothing/here')",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"K19_AccountProcesses", "reaches([errno.ENOENT], 'acct', b'/nothing/here')", kSyscall,
       kRootOnly | kMayBeAbsent},
      {"K20_RenameTheMachine",
       "name = socket.gethostname(); socket.sethostname(name)",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"K21_LoadAKernel", "reaches([errno.EINVAL], 'kexec_load', 0, 0, 0, -1)", kSyscall,
       kRootOnly | kMayBeAbsent},
      {"K21_LoadAModule", "reaches([errno.ENOEXEC, errno.EFAULT], 'init_module', 0, 0, b'')",
       kSyscall, kRootOnly | kMayBeAbsent},
  };
}

}  // namespace

std::vector<Attack> kernel_attacks() {
  std::vector<Attack> all = surface();
  for (const Attack& one : administration()) {
    all.push_back(one);
  }
  return all;
}

}  // namespace bawn::test
