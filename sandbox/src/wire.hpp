/// \file
/// What server and warden say to each other: the plan as one blob, then frames on a stream socket.
///
/// Shared by both sides and free of the C++ library, because the warden has none. Numbers are in
/// host byte order: both ends run under one kernel. Everything is padded to 4 bytes; a text is its
/// length, its bytes and a NUL, so that the warden uses it where it lies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bawn::sandbox::wire {

inline constexpr std::uint32_t kVersion = 4;
inline constexpr std::uint32_t kPlanMagic = 0x4e575042;            // "BPWN"
inline constexpr std::size_t kMaxPayload = std::size_t{4} << 20U;  ///< bytes after a header
inline constexpr std::size_t kMaxPlan = std::size_t{16} << 20U;    ///< bytes of a plan blob
inline constexpr std::size_t kMaxFds = 4;                          ///< descriptors with one frame
inline constexpr int kPlanFd = 3;    ///< the stub's descriptor of the sealed plan
inline constexpr int kStreamFd = 4;  ///< the stub's and the warden's end of the stream
/// With --exec: the sealed payload of the one Spawn request; on kStreamFd the stub passes on Ready
/// (or SetupFailed), then Executed, or Refused with the reason.
inline constexpr int kRequestFd = 5;
inline constexpr int kCgroupFd = 6;  ///< with kCgroup: the directory of the session's cgroup

/// Frame types. Requests below 0x100, answers (same id as the request) from 0x100, events (id of
/// the spawn that they are about) from 0x200.
enum class Type : std::uint32_t {
  /// fds: as the flags say, in the order stdin, stdout, stderr, go. Go is a stream socket: the
  /// child
  /// writes the errno of its chdir(2) as 4 bytes, or 0, with them the seccomp listener if the
  /// plan has one, then one byte lets it execute.
  Spawn = 1,
  Signal = 2,
  Tree = 3,
  /// fds: one end of a stream socket for a new file agent (file_wire.hpp has its order); answered
  /// by Spawned.
  Agent = 4,
  /// fds: the sealed plan; payload: the warden's number where the server is. The first frame to a
  /// warden that has no stub.
  Plan = 5,
  Ready = 0x100,        ///< the wall stands; confirmations, and fds: the proxy's listening socket
  SetupFailed = 0x101,  ///< the wall could not be built; the sender ends
  Spawned = 0x102,      ///< fds: the pidfd
  Refused = 0x103,      ///< errno and where
  Signalled = 0x104,
  Listed = 0x105,
  Executed = 0x106,  ///< from a stub with --exec: its command has executed
  Exited = 0x200,
};

struct Header {
  std::uint32_t type = 0;
  std::uint32_t id = 0;
  std::uint32_t length = 0;
};

/// Bits of the plan.
enum PlanFlag : std::uint32_t {
  kFullIdentityMap = 1U << 0U,
  kLoopbackUp = 1U << 1U,
  kHygiene = 1U << 2U,
  kNewKeyring = 1U << 3U,
  kDropCapabilities = 1U << 4U,
  kNoNewPrivs = 1U << 5U,
  kChildScopeLayer = 1U << 6U,
  kSeccomp = 1U << 7U,
  kProxyListener = 1U << 9U,  ///< Ready brings a socket that listens inside, on the plan's port
  kCgroup = 1U << 10U,        ///< the warden is born in the session's cgroup
  kForkedWarden = 1U << 8U,   ///< forked from the server: its signal handlers came along
};

/// Bits of a spawn request.
enum SpawnFlag : std::uint32_t {
  kHasInput = 1U << 0U,
  kHasOutput = 1U << 1U,
  kHasError = 1U << 2U,
  kNewSession = 1U << 3U,
  kTerminal = 1U << 4U,  ///< descriptor 0 becomes the controlling terminal
  kReadOnly = 1U << 5U,  ///< one more Landlock layer; the paths that stay writable follow
};

/// Where a failure happened; one word for people in `to_text` (client side).
enum class Step : std::uint32_t {
  Plan = 1,
  Clone,
  IdentityMap,
  ParentDeath,
  Descriptors,
  Mount,
  Loopback,
  Hostname,
  Groups,
  BoundingSet,
  GroupId,
  UserId,
  Capabilities,
  Keyring,
  Rlimit,
  NoNewPrivs,
  LandlockRuleset,
  LandlockRule,
  LandlockRestrict,
  Seccomp,
  Dumpable,
  Subreaper,
  Signals,
  Request,
  WorkingDirectory,
  Memory,
  Process,
  Session,
  Proxy,
  Listener,
  Execute,
};

/// What the warden confirms, one bit a layer.
enum LayerBit : std::uint32_t {
  kLayerNamespaces = 1U << 0U,
  kLayerHygiene = 1U << 1U,
  kLayerLandlock = 1U << 2U,
  kLayerSeccomp = 1U << 3U,
  kLayerChildScope = 1U << 4U,
  kLayerCgroup = 1U << 5U,
};

/// Mirrors MountStep::Kind, which the warden cannot include.
enum class MountKind : std::uint32_t {
  MakePrivate,
  BindReadOnly,
  BindWritable,
  RemountReadOnly,
  Tmpfs,
  MaskDirectory,
  MaskFile,
  Proc,
  Devices,
  MakeDirectory,
  WriteFile,
  HoldPath,
  BindHeld,
  Chdir,
  MakeSymlink,
};

/// Reads a blob or a payload without ever leaving it. After the first thing that does not fit,
/// `ok()` is false and every read gives zero or the empty text.
///
/// Threads: not thread-safe. The bytes must outlive the reader and what it returned.
class Reader {
 public:
  Reader() noexcept = default;
  Reader(const unsigned char* data, std::size_t size) noexcept : at_(data), left_(size) {}

  std::uint32_t u32() noexcept;
  std::uint64_t u64() noexcept;
  std::int32_t i32() noexcept { return static_cast<std::int32_t>(u32()); }
  /// A text: never null, NUL-terminated, without a NUL inside.
  const char* text() noexcept;
  /// `size` raw bytes (padded to 4 on the wire); null when they are not there.
  const unsigned char* bytes(std::size_t size) noexcept;
  /// A count of things of at least `each` bytes; 0 and not ok when they cannot be there.
  std::uint32_t count(std::size_t each) noexcept;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  /// Everything was read and nothing was wrong.
  [[nodiscard]] bool finished() const noexcept { return ok_ && left_ == 0; }

 private:
  const unsigned char* at_ = nullptr;
  std::size_t left_ = 0;
  bool ok_ = true;
};

}  // namespace bawn::sandbox::wire
