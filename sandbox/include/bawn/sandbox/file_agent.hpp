/// \file
/// Files of a session, opened and changed inside its wall: what the kernel refuses to the session's
/// commands it refuses here too, races of links and renames included.
///
/// Behind the interface stands a *file agent*: a small process in the same wall and with the same
/// user as the commands. It resolves every path and hands back descriptors of regular files only.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::sandbox {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

enum class FileType : std::uint32_t {
  Unknown,  ///< only in a DirectoryEntry: the file system does not say
  Regular,
  Directory,
  Symlink,
  Fifo,
  Socket,
  CharacterDevice,
  BlockDevice,
};

/// "a regular file", "a directory", "a FIFO", … for a sentence.
[[nodiscard]] std::string_view to_string(FileType type) noexcept;

/// What stat(2) says, as seen inside.
struct FileStatus {
  FileType type = FileType::Unknown;
  std::uint32_t mode = 0;     ///< permission bits and setuid, setgid, sticky (07777)
  std::uint32_t uid = 0;      ///< inside number; 65534 where the session's map has no other
  std::uint32_t gid = 0;      ///< inside number
  std::uint64_t size = 0;     ///< bytes
  std::int64_t mtime_ns = 0;  ///< last change of the content, ns since 1970
  std::int64_t ctime_ns = 0;  ///< last change of the content or of attributes, ns since 1970
  std::uint64_t device = 0;   ///< with `inode` the file's identity
  std::uint64_t inode = 0;
  /// Names of the file. More than 1: a commit gives this name a file of its own, and the others
  /// keep the old content.
  std::uint64_t links = 0;
  friend bool operator==(const FileStatus&, const FileStatus&) = default;
};

/// Why a request was refused or failed; the payload of the Error (`error.find<FileFailure>()`).
struct FileFailure {
  enum class Kind : std::uint32_t {
    System,      ///< a system call failed: `errnum` and the Error's call() tell
    NotRegular,  ///< a FIFO, device or socket where a regular file is needed: see `type`
    Directory,   ///< a directory where a regular file is needed
    Exists,      ///< the name is taken (Condition::Absent, rename without replace, make_directory)
    Changed,     ///< the file is no longer the one that was expected; nothing was changed
    Protected,   ///< a protected name of the policy
    Outside,     ///< no layer of this session holds paths, and this one leads out of its roots
    Lost,        ///< the agent ended while it worked: see the operation
    Late,        ///< no answer in time: see the operation
  };
  Kind kind = Kind::System;
  std::string path;                   ///< the inside path as it was asked for
  int errnum = 0;                     ///< 0 when no system call failed
  FileType type = FileType::Unknown;  ///< for NotRegular and Directory
};

/// Extended attributes that a file made anew may have again: the user's own and the access list.
struct FileAttributes {
  std::vector<std::pair<std::string, std::string>> values;  ///< name and bytes
  bool complete = true;  ///< false: there were more, or others, than are kept
};

struct OpenedFile {
  /// Open for reading, at offset 0, close-on-exec; checked to be a regular file. O_NONBLOCK stays
  /// set, which a regular file ignores. A file below /proc or /sys has size 0 and content all the
  /// same. Over a relay it is a copy in memory, sealed.
  os::UniqueFd fd;
  FileStatus status;
  std::optional<FileAttributes> attributes{};  ///< of what `fd` is a copy of
};

/// Those of an opened file, up to 16 KiB in all.
[[nodiscard]] FileAttributes attributes_of(const OpenedFile& file);

struct DirectoryEntry {
  std::string name;                    ///< the bytes as they are, never "." or ".."
  FileType type = FileType::Unknown;   ///< of the name itself: links are not followed
  std::optional<FileStatus> status{};  ///< when asked for and the entry was still there
};

struct ListOptions {
  bool with_status = false;  ///< stat each entry (one more system call each)
  /// Where to go on: `next` of the page before; empty = from the start.
  std::string cursor{};
};

struct DirectoryPage {
  std::vector<DirectoryEntry> entries;  ///< in the directory's own order, not sorted
  std::string next;                     ///< cursor of the next page; empty when this was the last
};

/// A condition on what a name is at the moment of a change, checked as late as the kernel allows.
struct Condition {
  enum class Kind : std::uint32_t {
    None,    ///< create or replace
    Absent,  ///< the name must be free. Atomic (linkat, RENAME_NOREPLACE)
    /// The name must still be `expected`: same device, inode, size, mtime and ctime. Checked
    /// immediately before the rename; a change between the two calls cannot be seen.
    Same,
    SameContent,  ///< as Same but for the ctime, which renaming a file changes as well
  };
  Kind kind = Kind::None;
  FileStatus expected{};
  static Condition absent() { return {Kind::Absent, {}}; }
  static Condition same(const FileStatus& expected) { return {Kind::Same, expected}; }
  static Condition same_content(const FileStatus& expected) {
    return {Kind::SameContent, expected};
  }
};

/// An old file that a change took from its name and keeps beside it under a hidden one, until it is
/// known that the change stays. Destroying it lets the old file go.
///
/// Threads: for one thread at a time.
class KeptFile {
 public:
  virtual ~KeptFile() = default;
  /// The path that it had, with all links resolved.
  [[nodiscard]] virtual const std::string& target() const noexcept = 0;
  /// Where it is now.
  [[nodiscard]] virtual std::string hidden_path() const = 0;
  /// Gives the very file its name again; `there` is what the name must be now. At most once.
  ///
  /// Errors and blocking: as FileAgent; Busy with FileFailure Changed when the hidden name is
  /// another file by now. After an error the old file stays at hidden_path(), so that nothing is
  /// lost.
  [[nodiscard]] virtual Result<> put_back(const contract::Context& context,
                                          const Condition& there) = 0;
};

struct StageOptions {
  bool make_parents = false;  ///< make missing directories on the way (mode 0777 less the umask)
};

struct CommitOptions {
  Condition condition{};
  /// Permission bits of the file. Absent: those of the file that it replaces, else 0666 less the
  /// umask (0755 is not narrowed by the umask: what is asked for is what is set). Setuid and setgid
  /// bits are never set.
  std::optional<std::uint32_t> mode{};
  bool durable = true;    ///< fsync(2) of the file before the rename and of the directory after it
  bool keep_old = false;  ///< keep the replaced file for the case that it must come back
};

/// What a commit did.
struct CommittedFile {
  FileStatus status;  ///< of the file in its place: the `expected` of the next change
  bool replaced = false;
  bool owner_kept = true;       ///< false: the replaced file was another user's or group's; where
                                ///< the group was lost, it got the rights of others
  bool attributes_kept = true;  ///< false: an extended attribute or access list could not be kept
  bool durable = false;         ///< both fsync calls were made and worked
  /// With keep_old: the file that was replaced; null when there was none, or on a file system
  /// without RENAME_EXCHANGE.
  std::unique_ptr<KeptFile> old{};
};

/// A new file that has no name yet (or, on a file system without O_TMPFILE, a hidden one beside the
/// target). Write its content to fd(), then commit it. Destroying it without a commit leaves
/// nothing behind, and so does the death of every process involved, on file systems with O_TMPFILE.
///
/// Threads: for one thread at a time.
class StagedFile {
 public:
  virtual ~StagedFile() = default;
  /// Open for writing, empty, mode 0600; borrowed. Over a relay it is a file in memory, which the
  /// commit carries over: a full disk shows only there.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Sets the time of the last change that it will have, ns since 1970. After the last write.
  /// Errors: those of futimens(2); over a relay the commit has them.
  [[nodiscard]] virtual Result<> set_mtime(std::int64_t mtime_ns) = 0;
  /// Sets attributes that the file does not have yet; false unless it then has all that there were.
  /// Over a relay CommittedFile::attributes_kept tells that of those, too.
  [[nodiscard]] virtual bool set_attributes(const FileAttributes& attributes) = 0;
  /// Where the content will be: the asked path with all links resolved, as an editor writes through
  /// a link.
  [[nodiscard]] virtual const std::string& target() const noexcept = 0;
  /// What had that name when the file was staged; absent when nothing had.
  [[nodiscard]] virtual const std::optional<FileStatus>& present() const noexcept = 0;
  /// How many directories were made on the way: the last ones of target()'s parents. They stay
  /// when the file is not committed.
  [[nodiscard]] virtual int parents_made() const noexcept = 0;
  /// Gives the file its attributes and its name in one step, so that a reader sees the old content
  /// or the new one. At most once.
  ///
  /// The replaced file's mode, owner and group (where allowed) and its user attributes and access
  /// list are kept.
  /// Errors: AlreadyExists with FileFailure Exists; Busy with FileFailure Changed; PermissionDenied
  /// with Protected, or by errno; Closed with Lost: the agent was ended before it was done, and the
  /// name has the old content as far as can be seen (when the agent was ended after that, the
  /// commit succeeds and is not durable); DeadlineExceeded or Cancelled with Late: then the name
  /// has the old content or gets the new one, never a mixture: read it again. After any error the
  /// staged file is gone. Blocking: the disk, as FileAgent.
  [[nodiscard]] virtual Result<CommittedFile> commit(const contract::Context& context,
                                                     const CommitOptions& options) = 0;
};

/// The files of one session. Obtained from Warden::file_agent().
///
/// Paths are absolute inside paths of less than 4096 bytes without NUL. `..` and links are resolved
/// by the kernel, never by text; links below /proc that lead to a process's descriptors or root
/// (magic links) are refused with ELOOP. What a name may be is for the wall to decide. A session
/// without a layer that holds paths (`unconfined`, or `best_effort` where no layer could be had)
/// keeps to its roots: the workspace, the policy's further writable roots and the temporary
/// directory; an absolute link is then refused too, even when it leads to a root.
///
/// Errors of every operation: InvalidArgument (not such a path, or FileFailure NotRegular or
/// Directory); the code of the errno (NotFound, PermissionDenied, …) with the payload FileFailure,
/// whose path and errnum explain a denial; Closed (the session is gone; or FileFailure Lost);
/// DeadlineExceeded and Cancelled (with FileFailure Late): the agent at work is then ended and a
/// new one takes the next request; ResourceExhausted (too many agents are stuck).
/// An agent that was killed from inside is replaced: what only reads is asked once more, a change
/// whose outcome is unknown is reported as Lost.
///
/// Blocking: tens of microseconds where the file system answers, over a relay one to three round
/// trips and the time that the content takes; bounded by the context, and by 30 s when it has no
/// deadline (over a relay by 30 s for every 2 MiB). Up to four requests run beside each other,
/// further ones wait: up to three that hang hinder no other, and none hinders the warden.
///
/// Threads: thread-safe; requests of several threads run beside each other.
class FileAgent {
 public:
  virtual ~FileAgent() = default;

  /// Opens a regular file for reading, following links. Never waits for a FIFO's other end and
  /// never opens a device. Over a relay also: ResourceExhausted for a file of more than 256 MiB,
  /// Busy with FileFailure Changed when it kept changing while it was read.
  [[nodiscard]] virtual Result<OpenedFile> open(const contract::Context& context,
                                                const std::string& path) = 0;

  /// Whether a link at the path's end is followed.
  enum class Links : std::uint32_t { Follow, Keep };
  /// Any type of file; opens nothing. With Links::Keep it is lstat(2).
  [[nodiscard]] virtual Result<FileStatus> status(const contract::Context& context,
                                                  const std::string& path, Links links) = 0;

  /// One page of one directory, links followed. What is made or removed between two pages may be
  /// missing or there. Errors also: Busy with FileFailure Changed when the cursor's directory is no
  /// longer the one at the path; InvalidArgument for a cursor that no page gave.
  [[nodiscard]] virtual Result<DirectoryPage> list(const contract::Context& context,
                                                   const std::string& path,
                                                   const ListOptions& options) = 0;

  /// What a symbolic link says. Errors also: errno EINVAL when it is none.
  [[nodiscard]] virtual Result<std::string> read_link(const contract::Context& context,
                                                      const std::string& path) = 0;

  /// Makes a new file for `path` beside its place. A link at the path's end is followed, also one
  /// whose destination does not exist yet. Refused at once with what can be known now: NotRegular,
  /// Directory, Protected, and the wall's denial of a file in that directory. A target that is a
  /// mount point (a protected name) is refused only by the commit, with EBUSY.
  [[nodiscard]] virtual Result<std::unique_ptr<StagedFile>> stage(const contract::Context& context,
                                                                  const std::string& path,
                                                                  const StageOptions& options) = 0;

  /// Removes a name that is not a directory; a link itself, not what it names.
  [[nodiscard]] virtual Result<> remove_file(const contract::Context& context,
                                             const std::string& path,
                                             const Condition& condition) = 0;
  /// Takes a file or link, if it still is the `expected` one, from its name so that it can still be
  /// put back; letting go of what it returns removes it. Errors as of remove_file; after Lost and
  /// Late the name is as it was, as far as can be seen.
  [[nodiscard]] virtual Result<std::unique_ptr<KeptFile>> set_aside(
      const contract::Context& context, const std::string& path, const FileStatus& expected) = 0;
  /// Removes an empty directory.
  [[nodiscard]] virtual Result<> remove_directory(const contract::Context& context,
                                                  const std::string& path) = 0;

  /// rename(2) of a file, link or directory, synced. `condition` is about `to`: None replaces what
  /// rename(2) replaces; `source` is about `from`. Errors also: errno EXDEV across file systems
  /// (copy, then remove).
  [[nodiscard]] virtual Result<> rename(const contract::Context& context, const std::string& from,
                                        const std::string& to, const Condition& condition,
                                        const Condition& source = {}) = 0;

  struct DirectoryOptions {
    std::uint32_t mode = 0777;  ///< less the umask; of bits beyond 0777 only the sticky one is set
    bool parents = false;       ///< make missing ones on the way; an existing one is no error then
    bool exact = false;         ///< the umask does not narrow `mode` (it does for those on the way)
  };
  /// Makes a directory and returns how many were made: the last ones of the path.
  [[nodiscard]] virtual Result<int> make_directory(const contract::Context& context,
                                                   const std::string& path,
                                                   const DirectoryOptions& options) = 0;

  /// A change of one name, for would_allow().
  enum class Change : std::uint32_t {
    Write,   ///< stage() with parents and its commit: a link at the end is followed
    Remove,  ///< remove_file() or set_aside()
    Rename,  ///< rename() of this name, or to it; its directories may be missing
    SetMode,
  };
  /// Whether that change would be refused, with the error that it would have: protected names, the
  /// wall, permissions of the directory, what cannot be replaced. Changes nothing. What only shows
  /// while it is done (a full disk, somebody else's change) is not foreseen, and neither are a file
  /// that is not there to be removed, the mode of an immutable file, and append-only directories.
  [[nodiscard]] virtual Result<> would_allow(const contract::Context& context,
                                             const std::string& path, Change change) = 0;

  /// Sets the permission bits (0777) of a regular file or directory, links followed, and returns
  /// its new status. Where no mounts hold attributes, only below the session's writable roots:
  /// Landlock does not see chmod(2).
  [[nodiscard]] virtual Result<FileStatus> set_mode(const contract::Context& context,
                                                    const std::string& path,
                                                    std::uint32_t mode) = 0;
};

}  // namespace bawn::sandbox
