/// \file
/// The file agent: a process of the session that opens and changes files for the server.
///
/// It is the warden's child and a copy of it, so it stands in the same wall, has the same user, is
/// not dumpable and keeps every signal blocked. libc only, no heap. What it may call:
///   start     prctl, dup3, close_range, getppid, umask, openat2 of the roots
///   serving   recv[msg], send[msg]; openat2, openat, fstat, fstatat, readlinkat, getdents64,
///             lseek, mkdirat, umask, linkat, unlinkat, renameat2, fchmod, fchmodat2, fchown,
///             fsync, flistxattr, fgetxattr, close, snprintf on fixed buffers; for trials of
///             changes faccessat, statx, fstatvfs, geteuid, capget; carried over a relay pread,
///             pwrite, fcntl(F_DUPFD_CLOEXEC), futimens
/// It answers one request after the other; whoever waits for one that hangs kills it.
///
/// No path is judged by its text: the kernel resolves each one inside the wall, without magic
/// links. What text is compared to (protected names, roots) only ever refuses more.
#pragma once

#include "file_wire.hpp"
#include "warden.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bawn::sandbox::warden::agent {

using file_wire::FailureKind;
using file_wire::kMaxName;
using file_wire::kMaxPath;

/// Why a request fails; `errnum` 0 = it does not.
struct Problem {
  int errnum = 0;
  FailureKind kind = FailureKind::System;
  const char* call = "";
  file_wire::Type type = file_wire::Type::Unknown;
  [[nodiscard]] bool failed() const noexcept { return errnum != 0; }
};
/// The system call that just failed.
Problem failed_call(const char* call) noexcept;

/// Owns a descriptor.
class Held {
 public:
  Held() noexcept = default;
  explicit Held(int fd) noexcept : fd_(fd) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { reset(-1); }
  void reset(int fd) noexcept {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = fd;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

struct Request {
  wire::Reader in;
  int fd = -1;  ///< that came with it, or -1
};

struct Reply {
  Packer out;
  Held fd;
};

// keep.cpp: what the agent keeps to by itself.
/// Reads the start order and opens the roots; false when it is malformed.
bool keep_to(const unsigned char* order, std::size_t length) noexcept;
/// No descriptor can go to the server: see held.cpp.
bool is_carried() noexcept;
/// The umask that the session was started with.
mode_t session_umask() noexcept;

enum class Access : std::uint32_t {
  Read,
  Write,       ///< below a writable root, where no layer holds paths
  Attributes,  ///< below a writable root, where no mount holds attributes
};
/// openat2(2) of an absolute path, without magic links and, where the agent holds paths, beneath a
/// root. A descriptor, or -1 with errno (EXDEV: outside of the roots).
int open_path(const char* path, int flags, Access access) noexcept;
/// The problem of an open_path() that failed.
Problem failed_open() noexcept;
/// What a change touches of the protected names.
enum class Reach : std::uint32_t {
  Below,          ///< the name itself or one above it is protected
  BelowAndAbove,  ///< or one below it, which a rename would carry away or bring in
};
/// Protected when `name` (may be empty, may be several) in the directory `parent` is touched.
/// Without /proc the text `asked` is compared instead.
Problem check_protected(int parent, const char* name, const char* asked, Reach reach) noexcept;
/// The kernel's name of an open directory in `path`; false without /proc.
bool name_directory(int directory, char (&path)[kMaxPath]) noexcept;

// place.cpp: where a name is.
struct Place {
  Held parent;          ///< O_PATH
  char name[kMaxName];  ///< in it
  char path[kMaxPath];  ///< the text that led there
  bool present = false;
  struct stat status = {};  ///< of what is there
};
enum class Last : std::uint32_t {
  Keep,    ///< a link at the end is the thing itself
  Follow,  ///< it leads on, also to what is not there yet
};
/// Opens the nearest directory on the way to `path` that is there and points `rest` at what is
/// missing.
Problem open_nearest(const char* path, Held& directory, const char*& rest) noexcept;
/// Finds the directory that holds the last name of `path`. ENOENT when there is none.
Problem find_place(const char* path, Last last, Place& place) noexcept;
/// Looks again what is there.
Problem look_again(Place& place) noexcept;
/// The mode of a new directory.
struct DirectoryMode {
  mode_t mode = 0777;  ///< permissions and the sticky bit
  bool exact = false;  ///< the umask does not narrow it
};
/// mkdirat(2).
int make_one(int parent, const char* name, DirectoryMode mode) noexcept;
/// Makes what is missing of a directory's path and counts it; all but the last get 0777 less the
/// umask. After a failure nothing that it made is left.
Problem make_directories(const char* path, DirectoryMode mode, std::uint32_t& made) noexcept;
/// Removes the last `count` directories of a path where they are empty.
void remove_directories(const char* path, std::uint32_t count) noexcept;
/// The path without slashes at its end, which a directory may have; both may be one.
void trim(const char* path, char (&trimmed)[kMaxPath]) noexcept;
/// The place of a name that is to go or to change, slashes at the path's end left out.
Problem find_name(const char* path, Reach reach, Place& place) noexcept;
/// The path of the place as the kernel names it, or as it was found.
void put_target(Packer& out, const Place& place) noexcept;
/// Writes the directory's names to the disk; false when that cannot be had, as where it may be
/// written to but not read.
bool sync_directory(int directory) noexcept;

file_wire::Type type_of(mode_t mode) noexcept;
/// NotRegular or Directory unless it is a regular file.
Problem require_regular(const struct stat& status) noexcept;
void put_status(Packer& out, const struct stat& status) noexcept;

/// What a request wants a name to be.
struct Condition {
  file_wire::ConditionKind kind = file_wire::ConditionKind::None;
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
Condition read_condition(wire::Reader& in) noexcept;
Problem check_condition(const Condition& condition, const Place& place) noexcept;

// held.cpp: the one file that a server behind a relay works with.
/// Keeps a file that is open for reading, or a staged one with what is needed to take its hidden
/// name away again; lets the one before go.
void hold_opened(Held& file) noexcept;
void hold_staged(Held& file, Place& place, const char* hidden, bool named) noexcept;
/// The held file, or -1.
int held_file() noexcept;
/// It has a hidden name.
bool held_is_named() noexcept;
/// Lets it go, and a hidden name with it.
void let_held_go() noexcept;
/// The same after a commit, which has seen to the name.
void forget_held() noexcept;
/// Appends up to `most` bytes from `offset` on, and as many as there is room for. `ends`: these are
/// the file's last ones.
Problem put_content(Packer& out, int file, std::uint64_t offset, std::size_t most,
                    bool& ends) noexcept;

// stage.cpp
/// Appends the attributes of an open file (-1: none to be had) that can be kept; false when some
/// could not be read, and with `only` also when there are others.
bool put_attributes(Packer& out, int file, bool only) noexcept;

/// Answers requests until the stream ends.
void serve(int stream) noexcept;

// The operations; read.cpp, stage.cpp, commit.cpp, aside.cpp, change.cpp, trial.cpp, held.cpp. A
// malformed request is told by `request.in`.
Problem open_file(Request& request, Reply& reply) noexcept;
Problem status_of(Request& request, Reply& reply) noexcept;
Problem list_directory(Request& request, Reply& reply) noexcept;
Problem read_link(Request& request, Reply& reply) noexcept;
Problem stage_file(Request& request, Reply& reply) noexcept;
Problem commit_file(Request& request, Reply& reply) noexcept;
Problem discard_file(Request& request, Reply& reply) noexcept;
Problem remove_file(Request& request, Reply& reply) noexcept;
Problem remove_directory(Request& request, Reply& reply) noexcept;
Problem rename_file(Request& request, Reply& reply) noexcept;
Problem make_directory(Request& request, Reply& reply) noexcept;
Problem set_mode(Request& request, Reply& reply) noexcept;
Problem set_aside(Request& request, Reply& reply) noexcept;
Problem put_back(Request& request, Reply& reply) noexcept;
Problem read_held(Request& request, Reply& reply) noexcept;
Problem write_held(Request& request, Reply& reply) noexcept;
Problem hand_held(Request& request, Reply& reply) noexcept;
Problem try_change(file_wire::Op op, Request& request, Reply& reply) noexcept;

}  // namespace bawn::sandbox::warden::agent
