// Signals to, and changes of, processes of the host; gaining rights.
#include "arena.hpp"
#include "attacks.hpp"

namespace bawn::test {
namespace {

using namespace errnos;

bool got_a_signal(const Arena& arena) {
  return arena.was_signalled();
}

std::vector<Attack> on_others() {
  return {
      {"P01_SignalAHostProcess", "os.kill(VICTIM, 10)", kProcess},
      {"P02_SignalAThreadOfTheHost", "call('tkill', VICTIM, 10)", kProcess},
      {"P02_SignalAThreadOfAGroup", "call('tgkill', VICTIM, VICTIM, 10)", kProcess},
      {"P03_QueueASignal",
       "call('rt_sigqueueinfo', VICTIM, 10, struct.pack('3i', 10, 0, -1).ljust(128, b'\\0'))",
       kProcess},
      {"P03_SignalByPidfd",
       "call('pidfd_send_signal', call('pidfd_open', VICTIM, 0), 10, 0, 0)",
       {"ESRCH", "EPERM", "EINVAL"}},
      {"P04_SignalByAsynchronousInput",
       R"(reading, writing = os.pipe()
fcntl.fcntl(reading, 10, 10)
fcntl.fcntl(reading, fcntl.F_SETOWN, VICTIM)
fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | 0o20000)
os.write(writing, b'x'))",
       kProcess, 0, got_a_signal},
      {"P05_WriteAHostProcesssMemory",
       R"(word = ctypes.create_string_buffer(b'A secret')
call('process_vm_writev', VICTIM, iovec(ctypes.addressof(word), 8), 1, iovec(ADDRESS, 8), 1, 0))",
       kProcess, kMayBeAbsent},
      {"P05_WriteAHostProcesssMemoryFile",
       "os.pwrite(os.open(f'/proc/{VICTIM}/mem', os.O_RDWR), b'A', ADDRESS)",
       {"EACCES", "ENOENT", "EPERM", "EROFS"},
       kMayBeAbsent},
      {"P06_LimitAHostProcess", "resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))", kProcess,
       kMayBeAbsent},
      {"P07_SlowAHostProcessDown", "os.setpriority(os.PRIO_PROCESS, VICTIM, 5)", kProcess},
      {"P08_PinAHostProcess", "os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))", kProcess},
      {"P09_SlowAHostProcesssDiskDown", "call('ioprio_set', 1, VICTIM, 0x4006)", kProcess},
      {"P10_OfferAHostProcessToTheKiller",
       "fd = os.open(f'/proc/{VICTIM}/oom_score_adj', os.O_WRONLY); os.write(fd, b'500')",
       {"EACCES", "ENOENT", "EPERM", "EROFS"},
       kMayBeAbsent},
      {"K22_CompareWithAHostProcess", "call('kcmp', VICTIM, os.getpid(), 1, 0, 0)", kProcess,
       kMayBeAbsent},
      {"K22_AdviseAHostProcesssMemory",
       "call('process_madvise', call('pidfd_open', VICTIM, 0), iovec(ADDRESS & ~4095, 4096), 1, "
       "20, 0)",
       {"ESRCH", "EPERM", "EINVAL"},
       kRootOnly | kMayBeAbsent},
  };
}

std::vector<Attack> on_itself() {
  return {
      {"P15_RunASetUserIdProgram",
       R"(run = subprocess.run([OUT + '/id-of-another', '-u'], stdout=subprocess.PIPE)
run.stdout == b'23456\n' or held('not honoured'))",
       {"not honoured"},
       kMayBeAbsent},
      {"P16_GainRightsByExecution",
       "libc.prctl(39, 0, 0, 0, 0) == 0 or held('no new privileges')",
       {"no new privileges"}},
      {"P17_AskForRealTime",
       "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"P18_LeaveTheKillersReach",
       "fd = os.open('/proc/self/oom_score_adj', os.O_WRONLY); os.write(fd, b'-1000')",
       {"EACCES", "EROFS", "EPERM"},
       kRootOnly | kMayBeAbsent},
      {"K24_HaveCapabilities",
       R"(status = dict(line.split(':\t') for line in open('/proc/self/status'))
held('none') if int(status['CapEff'], 16) + int(status['CapPrm'], 16) == 0 else None)",
       {"none"},
       kRootOnly},
      // An ordinary user without a namespace cannot drop it; no_new_privs makes it worthless.
      {"K24_HaveABoundingSet",
       R"(status = dict(line.split(':\t') for line in open('/proc/self/status'))
held('none') if int(status['CapBnd'], 16) == 0 else None)",
       {"none"},
       kRootOnly},
      {"K25_RunWithoutAFilter",
       R"(status = dict(line.split(':\t') for line in open('/proc/self/status'))
held('filtered') if int(status['Seccomp']) == 2 else None)",
       {"filtered"},
       kMayBeAbsent},
      {"T_KeepTheControllingTerminalOfTheUser",
       "os.setsid() if os.getpid() != os.getsid(0) else held('leads its own session')",
       {"leads its own session", "EPERM"},
       kMayBeAbsent},
  };
}

}  // namespace

std::vector<Attack> process_attacks() {
  std::vector<Attack> all = on_others();
  for (const Attack& one : on_itself()) {
    all.push_back(one);
  }
  return all;
}

}  // namespace bawn::test
