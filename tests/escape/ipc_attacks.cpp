// System V objects, queues, and Unix sockets of the host.
#include "arena.hpp"
#include "attacks.hpp"

namespace bawn::test {
namespace {

using namespace errnos;

bool got_a_datagram(const Arena& arena) {
  return arena.was_sent_to();
}

}  // namespace

std::vector<Attack> ipc_attacks() {
  return {
      {"I01_AttachTheHostsSharedMemory",
       R"(memory = call('shmget', PORT, 0, 0)
libc.shmat.restype = ctypes.c_long
checked(libc.shmat(memory, None, 0)))",
       {"ENOENT", "EPERM"}},
      {"I02_OpenTheHostsQueue",
       "checked(libc.mq_open(('/' + TOKEN).encode(), os.O_RDWR))",
       {"ENOENT", "EPERM", "EACCES"},
       kMayBeAbsent},
      {"I03_ConnectToAnAbstractUnixSocket", "socket.socket(socket.AF_UNIX).connect('\\0' + TOKEN)",
       kConnection},
      {"I04_ConnectToAUnixSocketByPath", "socket.socket(socket.AF_UNIX).connect(SOCKET)",
       kConnection},
      {"I05_SendToAUnixSocketByPath",
       "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', DATAGRAMS)", kConnection, 0,
       got_a_datagram},
      {"I05_SendByOneEndOfAPair",
       "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', DATAGRAMS)",
       {"ECONNREFUSED", "EACCES", "EPERM", "EAFNOSUPPORT", "ENOENT", "EISCONN"},
       0,
       got_a_datagram},
  };
}

}  // namespace bawn::test
