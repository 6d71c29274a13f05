// Contents and names outside the workspace.
#include "arena.hpp"
#include "attacks.hpp"

namespace bawn::test {
namespace {

using namespace errnos;

bool in_tmp(const Arena& arena) {
  return Arena::take("/tmp/" + arena.token());
}
bool in_var_tmp(const Arena& arena) {
  return Arena::take("/var/tmp/" + arena.token());
}
bool in_shared_memory(const Arena& arena) {
  return Arena::take("/dev/shm/" + arena.token());
}

std::vector<Attack> by_path() {
  return {
      {"F01_CreateAFileOutside", "os.close(os.open(OUT + '/new', os.O_CREAT | os.O_WRONLY))",
       kWrite},
      {"F02_OverwriteAFileOutside", "write_to(OUT + '/file')", kWrite},
      {"F03_AppendToAFileOutside", "write_to(OUT + '/file', os.O_APPEND | os.O_WRONLY)", kWrite},
      {"F04_TruncateByPath", "os.truncate(OUT + '/file', 0)", kWrite},
      {"F05_TruncateByReadOnlyOpen", "os.open(OUT + '/file', os.O_RDONLY | os.O_TRUNC)", kWrite},
      {"F06_UnlinkOutside", "os.unlink(OUT + '/file')", kWrite},
      {"F07_RenameOutside", "os.rename(OUT + '/file', OUT + '/other')", kWrite},
      {"F08_MakeADirectoryOutside", "os.mkdir(OUT + '/made')", kWrite},
      {"F08_RemoveADirectoryOutside", "os.mkdir(OUT + '/made'); os.rmdir(OUT + '/made')", kWrite},
      {"F15_WriteByDotDot", "os.chdir(WS); write_to(os.path.relpath(OUT) + '/file')", kWrite},
      {"F16_WriteThroughProcSelfRoot", "write_to('/proc/self/root' + OUT + '/file')", kWrite},
      {"F17_WriteThroughTheRootOfAHostProcess",
       "write_to(f'/proc/{VICTIM}/root' + OUT + '/file')",
       {"EACCES", "ENOENT", "EPERM", "EROFS"},
       kMayBeAbsent},
      {"F39_WriteToTheHostsTmp", "write_to('/tmp/' + TOKEN, os.O_CREAT | os.O_WRONLY)", kWrite, 0,
       in_tmp},
      {"F40_WriteToTheHostsVarTmp", "write_to('/var/tmp/' + TOKEN, os.O_CREAT | os.O_WRONLY)",
       kWrite, 0, in_var_tmp},
      {"F38_WriteToTheHostsSharedMemory", "write_to('/dev/shm/' + TOKEN, os.O_CREAT | os.O_WRONLY)",
       kWrite, 0, in_shared_memory},
      {"F41_ChangeTheShellsStartFile", "write_to(HOME + '/.profile', os.O_APPEND | os.O_WRONLY)",
       kWrite},
      {"F41_AddAnAuthorizedKey",
       "write_to(HOME + '/.ssh/authorized_keys', os.O_CREAT | os.O_WRONLY)", kWrite},
      {"F41_AddAUserService",
       "os.makedirs(HOME + '/.config/systemd/user')\n"
       "write_to(HOME + '/.config/systemd/user/x.service', os.O_CREAT | os.O_WRONLY)",
       kWrite},
  };
}

std::vector<Attack> by_links() {
  return {
      {"F09_WriteThroughASymlink",
       "os.symlink(OUT + '/file', WS + '/link'); write_to(WS + '/link')", kWrite},
      {"F10_CreateThroughADirectorySymlink",
       "os.symlink(OUT, WS + '/dir'); write_to(WS + '/dir/new', os.O_CREAT | os.O_WRONLY)", kWrite},
      {"F11_HardLinkIntoTheWorkspace",
       "os.link(OUT + '/file', WS + '/hard'); write_to(WS + '/hard')", kLink},
      {"F12_MoveAFileOut",
       "open(WS + '/mine', 'w').close(); os.rename(WS + '/mine', OUT + '/theirs')", kLink},
      {"F13_MoveAFileIn", "os.rename(OUT + '/file', WS + '/mine')", kLink},
      {"F14_ExchangeWithAFileOutside",
       "open(WS + '/mine', 'w').close()\n"
       "call('renameat2', AT_FDCWD, (WS + '/mine').encode(), AT_FDCWD, (OUT + '/file').encode(), "
       "2)",
       kLink},
      {"F52_DotDotBehindASymlink",
       "os.symlink(OUT + '/dir', WS + '/up'); write_to(WS + '/up/../file')", kWrite},
      // It has as many rounds as it needs to be denied a hundred times, or to succeed once.
      {"F53_SwapADirectoryForALinkMeanwhile",
       R"(os.mkdir(WS + '/a'); open(WS + '/a/file', 'w').close(); os.symlink(OUT, WS + '/b')
swapper = os.fork()
while swapper == 0:
    call('renameat2', AT_FDCWD, (WS + '/a').encode(), AT_FDCWD, (WS + '/b').encode(), 2)
denied = 0
try:
    while denied < 100 and open(OUT + '/file').read() == 'outside\n':
        try:
            write_to(WS + '/a/file')
        except OSError as error:
            denied += error.errno in (errno.EACCES, errno.EROFS)
finally:
    os.kill(swapper, 9)
    os.waitpid(swapper, 0)
if denied >= 100:
    held('denied each time'))",
       {"denied each time"}},
  };
}

std::vector<Attack> by_descriptors() {
  return {
      {"F18_WriteByAFileHandle",
       R"(handle = ctypes.create_string_buffer(136)
struct.pack_into('I', handle, 0, 128)
mount_id = ctypes.c_int()
call('name_to_handle_at', AT_FDCWD, (OUT + '/file').encode(), handle, ctypes.byref(mount_id), 0)
os.write(call('open_by_handle_at', os.open(WS, os.O_RDONLY), handle, os.O_WRONLY), b'changed'))",
       {"EPERM"},
       kRootOnly | kMayBeAbsent},
      {"F19_WriteThroughAnInheritedFile", "os.write(7, b'changed')", {"EBADF"}, kInherits},
      {"F20_OpenBelowAnInheritedDirectory",
       "os.write(os.open('file', os.O_WRONLY, dir_fd=8), b'changed')",
       {"EBADF"},
       kInherits},
      {"F48_CreateInADirectoryThatIsTheCurrentOne",
       "os.chdir(OUT); write_to('new', os.O_CREAT | os.O_WRONLY)", kWrite},
      {"F49_WriteByAProgramInMemory",
       R"(program = os.memfd_create('program')
with open('/usr/bin/dd', 'rb') as file:
    os.write(program, file.read())
run = subprocess.run([f'/proc/self/fd/{program}', 'if=' + OUT + '/dir/inner', 'of=' + OUT + '/file'],
                     pass_fds=[program], stderr=subprocess.PIPE, env={'LC_ALL': 'C'})
if run.returncode:
    held(run.stderr.decode().strip().rsplit(': ')[-1]))",
       {"Permission denied", "Read-only file system"}},
      {"F54_HoldUpWhoeverOpensAFile",
       "fcntl.fcntl(os.open(OUT + '/file', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
       {"EPERM"},
       kMayBeAbsent},
      {"F51_LinkANamelessFileOutside",
       R"(fd = os.open(OUT, os.O_TMPFILE | os.O_WRONLY)
checked(libc.linkat(AT_FDCWD, f'/proc/self/fd/{fd}'.encode(), AT_FDCWD, (OUT + '/new').encode(), 0x400)))",
       kWrite, kMayBeAbsent},
      {"OpenADescriptorAgainForWriting",
       "fd = os.open(OUT + '/file', os.O_RDONLY); write_to(f'/proc/self/fd/{fd}')", kWrite},
      {"MapAFileSharedForWriting",
       "import mmap\nfd = os.open(OUT + '/file', os.O_RDWR)\nmmap.mmap(fd, 1)[0] = 1", kWrite},
      {"CopyARangeIntoAFile",
       "os.copy_file_range(os.open(OUT + '/dir/inner', os.O_RDONLY), "
       "os.open(OUT + '/file', os.O_WRONLY), 3)",
       kWrite},
  };
}

}  // namespace

std::vector<Attack> file_attacks() {
  std::vector<Attack> all = by_path();
  for (const auto& some : {by_links(), by_descriptors()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace bawn::test
