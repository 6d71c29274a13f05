// The sentences of a file agent's failures, and what a descriptor from it really is.
#include "file_answer.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bawn::sandbox {

namespace {

using Kind = FileFailure::Kind;

static_assert(static_cast<std::uint32_t>(Kind::Outside) ==
              static_cast<std::uint32_t>(file_wire::FailureKind::Outside));

Error with_failure(const Error& error, FileFailure failure) {
  return error.with_payload(std::move(failure));
}

/// Those that Error::from_errno() takes for a broken machine, but which come from the path.
bool is_about_the_path(int errnum) {
  return errnum == ENOTDIR || errnum == ELOOP || errnum == ENAMETOOLONG || errnum == EINVAL ||
         errnum == EISDIR || errnum == ENOTEMPTY || errnum == EXDEV || errnum == EFBIG;
}

Error system_error(int errnum, std::string_view call, const FileAsk& ask) {
  const std::string what = fmt::format("{} {}", purpose(ask.op), ask.path);
  Error error = Error::from_errno(errnum, call, what);
  if (is_about_the_path(errnum)) {
    error = Error(ErrorCode::InvalidArgument, error.message()).with_cause(error);
  }
  return error;
}

Error error_of(const FileFailure& failure, std::string_view call, const FileAsk& ask) {
  switch (failure.kind) {
    case Kind::NotRegular:
      return {ErrorCode::InvalidArgument,
              fmt::format("{} is {}; only regular files can be read or written here", ask.path,
                          to_string(failure.type))};
    case Kind::Directory:
      return {ErrorCode::InvalidArgument, fmt::format("{} is a directory", ask.path)};
    case Kind::Exists:
      return {ErrorCode::AlreadyExists, fmt::format("{} is there already", ask.path)};
    case Kind::Changed:
      return {ErrorCode::Busy,
              fmt::format("{} is not what it was when it was read; read it again", ask.path)};
    case Kind::Protected:
      return {ErrorCode::PermissionDenied,
              fmt::format("{} {}: it is a protected name of this session's policy", purpose(ask.op),
                          ask.path)};
    case Kind::Outside:
      return {ErrorCode::PermissionDenied,
              fmt::format("{} {}: it leads outside of this session's directories", purpose(ask.op),
                          ask.path)};
    case Kind::System:
    case Kind::Lost:
    case Kind::Late:
      break;
  }
  return system_error(failure.errnum, call, ask);
}

std::string_view outcome(const FileAsk& ask) {
  return ask.changes ? "; whether it was done is unknown: look before doing it again" : "";
}

/// File systems through which the kernel itself is told things.
bool is_kernel_file_system(int fd) {
  constexpr std::uint64_t kBinfmt = 0x42494e4d;
  constexpr std::uint64_t kConfig = 0x62656570;
  constexpr std::uint64_t kFuseControl = 0x65735543;
  static constexpr std::uint64_t kTypes[] = {
      PROC_SUPER_MAGIC,     SYSFS_MAGIC,      CGROUP_SUPER_MAGIC,
      CGROUP2_SUPER_MAGIC,  DEBUGFS_MAGIC,    TRACEFS_MAGIC,
      BPF_FS_MAGIC,         SECURITYFS_MAGIC, SELINUX_MAGIC,
      SMACK_MAGIC,          EFIVARFS_MAGIC,   PSTOREFS_MAGIC,
      RDTGROUP_SUPER_MAGIC, kBinfmt,          kConfig,
      kFuseControl};
  struct statfs system{};
  return ::fstatfs(fd, &system) != 0 ||
         std::ranges::find(kTypes, static_cast<std::uint64_t>(system.f_type) & 0xffffffffU) !=
             std::end(kTypes);
}

}  // namespace

std::string_view purpose(file_wire::Op op) noexcept {
  switch (op) {
    case file_wire::Op::Open:
    case file_wire::Op::ReadHeld:
      return "cannot open";
    case file_wire::Op::Status:
      return "cannot look at";
    case file_wire::Op::List:
      return "cannot list";
    case file_wire::Op::ReadLink:
      return "cannot read the link";
    case file_wire::Op::Stage:
    case file_wire::Op::Commit:
    case file_wire::Op::WriteHeld:
    case file_wire::Op::HandHeld:
    case file_wire::Op::TryWrite:
      return "cannot write";
    case file_wire::Op::Discard:
    case file_wire::Op::Remove:
    case file_wire::Op::TryRemove:
    case file_wire::Op::SetAside:
    case file_wire::Op::RemoveDirectory:
      return "cannot remove";
    case file_wire::Op::Rename:
    case file_wire::Op::TryRename:
      return "cannot rename";
    case file_wire::Op::MakeDirectory:
      return "cannot make the directory";
    case file_wire::Op::PutBack:
      return "cannot put back";
    case file_wire::Op::SetMode:
    case file_wire::Op::TrySetMode:
      return "cannot change the mode of";
  }
  return "cannot use";
}

Error read_failure(std::string_view payload, const FileAsk& ask) {
  wire::Reader in(reinterpret_cast<const unsigned char*>(payload.data()), payload.size());
  FileFailure failure;
  failure.path = ask.path;
  failure.errnum = in.i32();
  const std::uint32_t kind = in.u32();
  const std::uint32_t type = in.u32();
  const std::string call = in.text();
  if (!in.finished() || failure.errnum <= 0 || failure.errnum > 4095 ||
      kind > static_cast<std::uint32_t>(Kind::Outside) ||
      type > static_cast<std::uint32_t>(FileType::BlockDevice)) {
    return {ErrorCode::Internal, "the session's file agent sent a malformed answer"};
  }
  failure.kind = static_cast<Kind>(kind);
  failure.type = static_cast<FileType>(type);
  const Error error = error_of(failure, call, ask);
  return with_failure(error, std::move(failure));
}

Error malformed_error() {
  return {ErrorCode::Internal, "the session's file agent sent a malformed answer and was ended"};
}

Error lost_error(const FileAsk& ask) {
  return with_failure(
      {ErrorCode::Closed, fmt::format("{} {}: the session's file agent was ended meanwhile{}",
                                      purpose(ask.op), ask.path, outcome(ask))},
      {Kind::Lost, ask.path});
}

Error late_error(const FileAsk& ask, const Error& ended) {
  return with_failure(
      Error(ended.code(), fmt::format("{} {}: {}{}{}", purpose(ask.op), ask.path, ended.message(),
                                      ended.code() == ErrorCode::DeadlineExceeded
                                          ? " and the file system did not answer"
                                          : "",
                                      outcome(ask))),
      {Kind::Late, ask.path});
}

Result<FileStatus> check_descriptor(const os::UniqueFd& fd, int access, const FileStatus& told) {
  struct stat own{};
  const int flags = fd.is_open() ? ::fcntl(fd.get(), F_GETFL) : -1;
  const bool sound = flags >= 0 && (flags & O_ACCMODE) == access && (flags & O_PATH) == 0 &&
                     (flags & (O_APPEND | O_ASYNC | O_DIRECT)) == 0 &&
                     ::fstat(fd.get(), &own) == 0 && S_ISREG(own.st_mode) &&
                     (access == O_RDONLY || !is_kernel_file_system(fd.get()));
  if (!sound) {
    return contract::fail(
        ErrorCode::Internal,
        "the session's file agent sent what is not an open regular file and was ended");
  }
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
  };
  FileStatus status = told;
  status.type = FileType::Regular;
  status.mode = own.st_mode & 07777U;
  status.size = static_cast<std::uint64_t>(own.st_size);
  status.mtime_ns = nanoseconds(own.st_mtim);
  status.ctime_ns = nanoseconds(own.st_ctim);
  status.device = own.st_dev;
  status.inode = own.st_ino;
  status.links = own.st_nlink;
  return status;
}

}  // namespace bawn::sandbox
