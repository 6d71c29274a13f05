// Taking all there is. Limits are set low, so that the controls take little.
#include "attacks.hpp"

#include <fmt/format.h>

namespace bawn::test {
namespace {

std::string limited(const char* member, long value) {
  return fmt::format(R"({{"extends": "workspace-write", "limits": {{"{}": {}}}}})", member, value);
}

}  // namespace

std::vector<Attack> limit_attacks() {
  const std::string forks = R"(children = []
try:
    for _ in range(500):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
finally:
    for pid in children:
        os.kill(pid, 9)
    for pid in children:
        os.waitpid(pid, 0))";
  return {
      // Without namespaces processes are counted with all others of the user, root's not at all.
      {"D01_ForkWithoutEnd",
       forks,
       {"EAGAIN"},
       kNeedsNamespaces,
       nullptr,
       limited("processes", 400)},
      {"D02_TakeAllMemory",
       "import mmap\nmmap.mmap(-1, 512 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
       {"ENOMEM"},
       0,
       nullptr,
       limited("memory_bytes", 256L << 20)},
      {"D03_WriteAHugeFile",
       "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
       "os.pwrite(os.open(WS + '/huge', os.O_CREAT | os.O_WRONLY), b'x', 8 << 20)",
       {"EFBIG"},
       0,
       nullptr,
       limited("file_size_bytes", 4L << 20)},
      {"D04_OpenEverything",
       "for _ in range(100):\n    os.dup(0)",
       {"EMFILE"},
       0,
       nullptr,
       limited("open_files", 64)},
      {"D05_FillTheTemporaryDirectory",
       "fd = os.open('/tmp/' + TOKEN, os.O_CREAT | os.O_RDWR)\nos.unlink('/tmp/' + TOKEN)\n"
       "for _ in range(3):\n    os.write(fd, bytes(1 << 20))",
       {"ENOSPC"},
       kNeedsNamespaces,
       nullptr,
       limited("tmp_bytes", 1L << 20)},
      {"D06_RaiseAHardLimit",
       "limits = struct.pack('2Q', 1 << 40, (1 << 64) - 1)\n"
       "checked(libc.prlimit(0, resource.RLIMIT_FSIZE, limits, None))",
       {"EPERM"}},
      {"D07_TakeAllWatches",
       "for _ in range(100):\n    checked(libc.inotify_init1(0))",
       {"EMFILE"},
       kNeedsNamespaces | kMayBeAbsent},
      {"D08_LeaveACoreFile",
       R"(held('off') if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0 else None)",
       {"off"},
       kMayBeAbsent},
  };
}

}  // namespace bawn::test
