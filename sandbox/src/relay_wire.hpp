/// \file
/// What server and relay say to each other over a plain pair of pipes, where no descriptor can be
/// passed. The relay (`bawn-warden --pipes`) stands where the session is to be: it starts the
/// wardens there, holds their ends of pipes and FIFOs, and moves the bytes as frames. Output flows
/// against credit, so that a stream which nobody reads stops by itself and keeps no other one
/// waiting.
///
/// Free of the C++ library, as wire.hpp, whose frame header and value encoding it uses. Numbers are
/// little-endian: the other end may be another machine, of one of the two kinds that bawn is built
/// for, which both are so.
#pragma once

#include "wire.hpp"

#include <cstddef>
#include <cstdint>

namespace bawn::sandbox::relay_wire {

#if defined(__BYTE_ORDER__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
#endif

inline constexpr std::uint32_t kMagic = 0x4e575242;  // "BRWN"
inline constexpr std::uint32_t kVersion = 2;
/// Bytes after a header, in both directions: a spawn's arguments and what stands before them.
inline constexpr std::size_t kMaxPayload = wire::kMaxPayload + 4096;
/// Bytes of file contents in one frame.
inline constexpr std::size_t kMaxPart = std::size_t{1} << 20U;
/// Bytes of one Data frame.
inline constexpr std::size_t kMaxData = std::size_t{64} << 10U;
/// Bytes that a stream may send ahead of the credit it gets back: to the server, and to a process.
inline constexpr std::uint32_t kOutputWindow = 512U << 10U;
inline constexpr std::uint32_t kInputWindow = 64U << 10U;

/// Frame types; in brackets what the header's id is. Numbers of requests, streams and sessions are
/// the server's choice, above 0.
enum class Type : std::uint32_t {
  /// [0] magic, version. The first frame in each direction; the relay's goes on with its pid, uid,
  /// gid, the Landlock ABI, the clock since boot in ns (u64), and the kernel's release (text).
  Hello = 1,
  OpenSession = 2,   ///< [session] a plan as in wire.hpp; answered by Ready or SetupFailed
  CloseSession = 3,  ///< [session] 0 = ends by itself, 1 = kill; Lost follows
  Ask = 4,           ///< [request] session, wire type, then that request's payload
  /// [request] session, streams for 0, 1 and 2 (0 = /dev/null), columns and rows (0 = no terminal,
  /// else the three streams are one number), then the payload of wire::Type::Spawn.
  Spawn = 5,
  Go = 6,          ///< [spawn's request] 1 = execute, 0 = end
  Data = 7,        ///< [stream] bytes, both directions
  Credit = 8,      ///< [stream] bytes that may follow, both directions
  End = 9,         ///< [stream] no more bytes (or none wanted); each side says it once
  Resize = 10,     ///< [stream] columns, rows
  Unread = 11,     ///< [request] stream; answered by Done with the bytes that were not read yet
  Directory = 12,  ///< [request] uid, gid, path: a session's directory with r/ and w/
  Write = 13,      ///< [request] WriteFlag, mode, path, then the bytes
  /// [request] stream, session, FifoKind, mode, path: makes a FIFO and holds our end of it.
  Fifo = 14,
  Read = 15,             ///< [request] most bytes, path; Done brings the bytes
  Remove = 16,           ///< [0] path: a file
  RemoveDirectory = 17,  ///< [0] path that Directory made, with all in it
  Watch = 18,    ///< [request] session, count, (inside pid, u64 start time)…; Done follows, and
                 ///< Ended when one of them has ended
  Unwatch = 19,  ///< [watch's request]
  /// [stream, which is the request's number too] session, then the payload of wire::Type::Agent:
  /// the stream is the server's end of the new file agent's; answered as Ask is.
  Agent = 20,
  /// [request] stream, count, (text name, u32 length, bytes, NUL)…: sets extended attributes of the
  /// file that the agent of that stream has passed (file_wire::Op::HandHeld), which no process of
  /// the session may. Done has the errno of the first that failed.
  Attributes = 21,

  Ready = 0x100,        ///< [session] start time (u64), then wire.hpp's payload
  SetupFailed = 0x101,  ///< [session] wire.hpp's payload
  Answer = 0x102,       ///< [request] wire type, then the answer's payload
  Spawned = 0x103,      ///< [request] inside pid, start time (u64), errno of chdir(2)
  Done = 0x104,         ///< [request] errno, value, then bytes
  /// [spawn's request] marks, then wire.hpp's payload of Exited.
  Exited = 0x200,
  Report = 0x201,  ///< [stream] marks, then the bytes of a Report FIFO
  Ended = 0x202,   ///< [watch's request]
  Lost = 0x203,    ///< [session] its warden is gone
};
// Marks are count, (stream, u64 total)…: what was printed before this event and is not sent yet.
// The event is true for the reader once that many bytes of each of these streams have come.

enum WriteFlag : std::uint32_t {
  kAppend = 1U << 0U,  ///< to a file that is there; else it is made and must not be there
};

enum class FifoKind : std::uint32_t {
  Output = 1,  ///< in w/: commands write, ends with its last writer
  Report = 2,  ///< in w/: commands write, never ends; what it says is held back by marks
  Input = 3,   ///< in r/: commands read
};

}  // namespace bawn::sandbox::relay_wire
