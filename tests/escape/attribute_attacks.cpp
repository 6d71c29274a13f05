// Modes, owners, times, extended attributes, flags; and marks that would serve other users.
#include "attacks.hpp"

namespace bawn::test {

using namespace errnos;

std::vector<Attack> attribute_attacks() {
  return {
      {"F21_ChangeAModeOutside", "os.chmod(OUT + '/file', 0o600)", kWrite, kNeedsNamespaces},
      {"F22_ChangeAModeByDescriptor", "os.fchmod(os.open(OUT + '/file', os.O_RDONLY), 0o600)",
       kWrite, kNeedsNamespaces},
      {"F23_ChangeAModeByTheNewCall",
       "call('fchmodat2', AT_FDCWD, (OUT + '/file').encode(), 0o600, 0)", kWrite,
       kNeedsNamespaces | kMayBeAbsent},
      {"F24_GiveAFileAway", "os.chown(OUT + '/file', 34567, -1)", kWrite, kRootOnly},
      {"F25_ChangeTimesOutside", "os.utime(OUT + '/file', (1, 1))", kWrite, kNeedsNamespaces},
      {"F26_SetAnAttributeOutside", "os.setxattr(OUT + '/file', 'user.bawn', b'x')", kAttribute,
       kMayBeAbsent},
      {"F27_RemoveAnAttributeOutside",
       R"(try:
    os.setxattr(OUT + '/file', 'user.bawn', b'x')
except OSError:
    pass
os.removexattr(OUT + '/file', 'user.bawn'))",
       kAttribute, kMayBeAbsent},
      {"F28_SetFileFlagsByAReadOnlyDescriptor",
       R"(fd = os.open(OUT + '/file', os.O_RDONLY)
flags = bytearray(8)
fcntl.ioctl(fd, 0x80086601, flags)
flags[0] |= 0x80
fcntl.ioctl(fd, 0x40086602, flags))",
       kAttribute, kMayBeAbsent},
      {"F28_SetTheGenerationByAReadOnlyDescriptor",
       R"(fcntl.ioctl(os.open(OUT + '/file', os.O_RDONLY), 0x40087602, bytes(8)))", kAttribute,
       kMayBeAbsent},
      {"F28_SealAFileByAReadOnlyDescriptor",
       R"(enable = struct.pack('IIII', 1, 1, 4096, 0) + bytes(112)
fcntl.ioctl(os.open(OUT + '/file', os.O_RDONLY), 0x40806685, enable))",
       kAttribute, kMayBeAbsent},
      {"F28_MakeASubvolumeByADirectorysDescriptor",
       R"(fcntl.ioctl(os.open(OUT, os.O_RDONLY), 0x5000940e, bytearray(bytes(8) + b'sub' + bytes(4085))))",
       kAttribute, kMayBeAbsent},
      {"F36_SetUserIdBitInTheWorkspace",
       "open(WS + '/prog', 'w').close(); os.chmod(WS + '/prog', 0o4755)", kWrite},
      {"F36_SetUserIdBitByDescriptor",
       "os.fchmod(os.open(WS + '/prog', os.O_CREAT | os.O_WRONLY), 0o4755)", kWrite},
      {"F36_SetUserIdBitAtCreation",
       "os.close(os.open(WS + '/prog', os.O_CREAT | os.O_WRONLY, 0o4755))", kWrite},
      {"F36_SetGroupIdBitOfANode", "os.mknod(WS + '/prog', 0o102755)", kWrite},
      {"F37_GiveAProgramCapabilities",
       R"(open(WS + '/prog', 'w').close()
os.setxattr(WS + '/prog', 'security.capability', struct.pack('<5I', 0x02000001, 1 << 13, 0, 0, 0)))",
       kAttribute, kRootOnly | kMayBeAbsent},
      {"O01_CreateInAReadOnlyWorkspace", "write_to(WS + '/new', os.O_CREAT | os.O_WRONLY)", kWrite,
       0, nullptr, "read-only"},
      {"O02_ChangeAFileOfAReadOnlyWorkspace", "write_to(WS + '/.envrc')", kWrite, 0, nullptr,
       "read-only"},
      {"O03_RemoveFromAReadOnlyWorkspace", "os.unlink(WS + '/.envrc')", kWrite, 0, nullptr,
       "read-only"},
      {"O04_ChangeAModeInAReadOnlyWorkspace", "os.chmod(WS + '/.envrc', 0o600)", kWrite,
       kNeedsNamespaces, nullptr, "read-only"},
  };
}

}  // namespace bawn::test
