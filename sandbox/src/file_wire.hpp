/// \file
/// What the server and a session's file agent say to each other: frames as in wire.hpp, one request
/// and its answer at a time, on a stream socket of their own.
///
/// A status is u32 type, mode, uid, gid, then u64 size, mtime, ctime, device, inode, links. A
/// condition is u32 kind and, for Same and SameContent, a status.
#pragma once

#include "wire.hpp"

namespace bawn::sandbox::file_wire {

inline constexpr std::size_t kMaxRequest = std::size_t{256} << 10U;  ///< bytes of a payload
inline constexpr std::size_t kMaxAnswer = std::size_t{256} << 10U;   ///< bytes of a payload
inline constexpr std::size_t kMaxStart = std::size_t{64} << 10U;     ///< bytes of the start order
inline constexpr std::size_t kMaxPath = 4096;                        ///< bytes with the final NUL
inline constexpr std::size_t kMaxName = 256;                         ///< bytes with the final NUL
/// Bytes of a file's content in one request or answer.
inline constexpr std::size_t kMaxContent = std::size_t{224} << 10U;
/// Processes of one session; more are stuck in the kernel then than work.
inline constexpr std::size_t kMaxAgents = 8;

/// Bits of the start order: u32 flags, u32 count, each root's u32 writable and text path, u32 count
/// of the protected paths and their texts.
enum StartFlag : std::uint32_t {
  kHoldPaths = 1U << 0U,
  kHoldAttributes = 1U << 1U,
  /// No descriptor can go to the server and back (a relay is between): the agent holds the file of
  /// the last Open or Stage, until the next one or a Commit, and its content comes and goes.
  kCarried = 1U << 2U,
};

/// Requests. "hidden" is a file name that the server made up.
enum class Op : std::uint32_t {
  Open = 1,  ///< path -> status; fd: the file, open for reading. Carried: path -> opened
  Status,    ///< u32 follow, path -> status
  List,      ///< u32 with status, u64 device, inode, offset (0: from the start), path -> page
  ReadLink,  ///< path -> text
  Stage,     ///< u32 StageOrder, text hidden, path -> staged; fd: the new file, for writing
  Commit,    ///< order, fd: the staged file -> u32 CommitFlag, status
  Discard,   ///< text hidden, path of its neighbour: removes a hidden file, if there is one
  Remove,    ///< condition, path
  RemoveDirectory,  ///< path
  Rename,           ///< condition on the first, condition on the second, two paths
  MakeDirectory,    ///< u32 mode, u32 DirectoryFlag, path -> u32 how many were made
  SetMode,          ///< u32 mode, path -> status
  SetAside,         ///< condition, text hidden, path -> text target: takes a file from its name
  PutBack,    ///< condition, u64 device, inode, text hidden, target: gives that file its name again
  TryWrite,   ///< path: would Stage with parents and its Commit be refused?
  TryRemove,  ///< path: would Remove or SetAside be?
  TryRename,  ///< path: would Rename of or to this name be?
  TrySetMode,  ///< path: would SetMode be?
  ReadHeld,    ///< u64 offset, u32 most -> content, status; less than asked is the end
  WriteHeld,   ///< u64 offset, content; a failure lets the file go
  HandHeld,    ///< -> fd: the held file, open for writing, for the relay
};

enum DirectoryFlag : std::uint32_t {
  kParents = 1U << 0U,
  kExactMode = 1U << 1U,
};

enum class Answer : std::uint32_t {
  Done = 0x100,
  Failed = 0x101,  ///< u32 errno, FailureKind, file type; text: the system call
};

/// As FileFailure::Kind and FileType of the public header, which the agent cannot include.
enum class FailureKind : std::uint32_t {
  System,
  NotRegular,
  Directory,
  Exists,
  Changed,
  Protected,
  Outside,
};
enum class Type : std::uint32_t {
  Unknown,
  Regular,
  Directory,
  Symlink,
  Fifo,
  Socket,
  CharacterDevice,
  BlockDevice,
};
enum class ConditionKind : std::uint32_t { None, Absent, Same, SameContent };

/// Content and an attribute's value: u32 length, bytes, NUL. Attributes: u32 count and each one's
/// text name and value.
///
/// Opened: u32 OpenFlag, status, attributes, content, status after it was read.
enum OpenFlag : std::uint32_t {
  kContentEnds = 1U << 0U,     ///< that is all of it; it is not held
  kMoreAttributes = 1U << 1U,  ///< there are others, or they could not be read
};

enum StageOrder : std::uint32_t {
  kMakeParents = 1U << 0U,
  kOnlyLook = 1U << 1U,  ///< carried: the new file is not held
};

/// Staged: u32 flags, u32 directories made, text target, [status of what is there], its attributes,
/// u64 device and inode of the new file.
enum StageFlag : std::uint32_t {
  kPresent = 1U << 0U,
  kNamed = 1U << 1U,          ///< it has the hidden name; else none
  kAttributesCut = 1U << 2U,  ///< not all attributes could be read
};

/// Commit: u32 CommitOrder bits, u32 mode, u64 mtime, condition, text hidden, text target.
enum CommitOrder : std::uint32_t {
  kWithMode = 1U << 0U,
  kDurable = 1U << 1U,
  kIsNamed = 1U << 2U,
  kKeepOld = 1U << 3U,  ///< what is replaced gets the hidden name
  kWithTime = 1U << 4U,
};
enum CommitFlag : std::uint32_t {
  kReplaced = 1U << 0U,
  kOwnerKept = 1U << 1U,
  kSynced = 1U << 2U,
  kOldKept = 1U << 3U,
};

/// A page: u64 device, inode, offset; u32 more; u32 count; entries of u32 type, text name and, with
/// status, u32 there and the status.
inline constexpr std::size_t kPageHead = 3 * 8 + 2 * 4;
inline constexpr std::size_t kStatusSize = 4 * 4 + 6 * 8;

}  // namespace bawn::sandbox::file_wire
