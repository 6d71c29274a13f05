// The default policy has no network. Lists of hosts are attacked in tests/integration/network, and
// listening in listen_test.cpp.
#include "arena.hpp"
#include "attacks.hpp"

namespace bawn::test {
namespace {

using namespace errnos;

bool got_a_datagram(const Arena& arena) {
  return arena.was_sent_to();
}

std::vector<Attack> connections() {
  return {
      {"N01_ConnectToALocalService", "socket.create_connection(('127.0.0.1', PORT), 5)",
       kConnection},
      {"N02_ConnectOverIpv6",
       "socket.create_connection(('::1', PORT6), 5) if PORT6 else held('no IPv6')", kConnection,
       kMayBeAbsent},
      {"N03_SendByFastOpen", "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', PORT))",
       kConnection},
      {"N04_SendByFastOpenOverIpv6",
       "socket.socket(socket.AF_INET6).sendto(b'x', 0x20000000, ('::1', PORT6))", kConnection,
       kMayBeAbsent},
      {"N05_ConnectWithTheFirstByte",
       R"(s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, 30, 1)
s.connect(('127.0.0.1', PORT))
s.send(b'x'))",
       kConnection, kMayBeAbsent},
      {"N06_ConnectByMultipathTcp",
       "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', PORT))",
       {"ECONNREFUSED", "EPROTONOSUPPORT", "EPERM", "EAFNOSUPPORT", "EACCES"},
       kMayBeAbsent},
      {"N06_OpenSctp", "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)", kFamily,
       kMayBeAbsent},
      {"N07_SendADatagram",
       "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP_PORT))",
       kConnection, 0, got_a_datagram},
      {"N08_SendAConnectedDatagram",
       R"(s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('127.0.0.1', UDP_PORT))
s.sendmsg([b'x']))",
       kConnection, 0, got_a_datagram},
      {"N09_ConnectToAMappedAddress",
       "socket.socket(socket.AF_INET6).connect(('::ffff:127.0.0.1', PORT))", kConnection,
       kMayBeAbsent},
      {"N18_F46_K04_SetUpIoUring",
       "call('io_uring_setup', 1, ctypes.create_string_buffer(120))",
       {"ENOSYS"},
       kMayBeAbsent},
      {"N20_SendOnAnInheritedConnection", "os.write(9, b'x')", {"EBADF"}, kInherits},
  };
}

std::vector<Attack> families() {
  return {
      {"N10_OpenARawSocket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", kFamily,
       kRootOnly},
      {"N11_OpenAPacketSocket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", kFamily,
       kRootOnly | kMayBeAbsent},
      {"N12_OpenAVsock", "socket.socket(40, socket.SOCK_STREAM)", kFamily, kMayBeAbsent},
      {"N13_OpenAnotherFamily",
       R"(opened = 0
for family in range(3, 46):
    for kind in (1, 2, 3, 5):
        if family not in (10, 16):
            try:
                socket.socket(family, kind).close()
                opened += 1
            except OSError as error:
                last = error
if not opened:
    raise last)",
       kFamily, kMayBeAbsent},
      {"N14_ListenToTheKernelsEvents", "socket.socket(16, socket.SOCK_DGRAM, 15)", kFamily,
       kMayBeAbsent},
      {"N14_ListTheHostsInterfaces",
       "names = [name for _, name in socket.if_nameindex()]\n"
       "held('loopback only') if names in ([], ['lo']) else None",
       {"loopback only", "EPERM", "EAFNOSUPPORT", "EACCES"},
       kMayBeAbsent},
      {"OpenTheKernelsCryptography", "socket.socket(38, socket.SOCK_SEQPACKET)", kFamily,
       kMayBeAbsent},
  };
}

}  // namespace

std::vector<Attack> network_attacks() {
  std::vector<Attack> all = connections();
  for (const Attack& one : families()) {
    all.push_back(one);
  }
  return all;
}

}  // namespace bawn::test
