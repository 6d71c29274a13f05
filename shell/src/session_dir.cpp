#include "session_dir.hpp"

#include "bawn/os/process_identity.hpp"
#include "bawn/shell/session.hpp"
#include "random_name.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace bawn::shell {

namespace {

constexpr const char* kLock = "/lock";

// Where commands run as another user, the files stay ours and that user's group may reach them: so
// plain permissions already keep a command from reading reports, whatever the layers can do.
constexpr mode_t kOwnText = 0600;
constexpr mode_t kForeignText = 0640;
constexpr mode_t kOwnOutput = 0600;
constexpr mode_t kForeignOutput = 0620;

Result<> make_directory(const std::string& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return std::unexpected(
        Error::from_errno(errno, "mkdir", fmt::format("cannot make the directory {}", path)));
  }
  return {};
}

/// A file from its beginning; empty when it is larger than the limit.
std::string read_whole(int fd, std::size_t limit) {
  struct stat status{};
  if (fstat(fd, &status) != 0 || status.st_size <= 0 ||
      static_cast<std::size_t>(status.st_size) > limit) {
    return {};
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

void remove_contents(int directory) noexcept {
  DIR* entries = fdopendir(directory);
  if (entries == nullptr) {
    ::close(directory);
    return;
  }
  while (const dirent* entry = readdir(entries)) {
    unlinkat(dirfd(entries), entry->d_name, 0);
  }
  closedir(entries);
}

void remove_session(const std::string& path) noexcept {
  for (const char* side : {"/r", "/w"}) {
    const std::string directory = path + side;
    chmod(directory.c_str(), 0700);
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
      remove_contents(fd);
    }
    rmdir(directory.c_str());
  }
  // Nothing of the session runs any more, and links are not followed.
  std::error_code ignored;
  std::filesystem::remove_all(path + "/tmp", ignored);
  unlink((path + kLock).c_str());
  rmdir(path.c_str());
}

/// A directory's name tells who makes it, until its lock does: "PID-START-RANDOM".
Result<std::string> new_name() {
  return fmt::format("{}-{}", os::to_string(BAWN_TRY(os::own_identity())), random_name(10));
}

/// Whether the process that made a directory of that name is gone; false for a name of another
/// kind.
bool maker_is_gone(std::string_view name) {
  const auto maker = os::take_identity(name);
  return maker && os::has_ended(*maker);
}

/// Removes what servers left that ended without a chance to. Theirs is a lock file that nobody
/// holds any more; without one, or with an empty one, a session may be just being made.
void remove_abandoned(const std::string& sessions) noexcept {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(sessions, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path();
    const os::UniqueFd lock(::open((path + kLock).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    const bool locked = lock.is_open() && flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
    const bool was_taken = lock.is_open() && fstat(lock.get(), &status) == 0 && status.st_size > 0;
    if (!locked && (was_taken || maker_is_gone(entry->path().filename().string()))) {
      remove_session(path);
    }
  }
}

}  // namespace

Result<> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0) {
      if (errno == EINTR) {
        continue;
      }
      return std::unexpected(Error::from_errno(errno, "write", "cannot write the call's text"));
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::string> Session::prepare_directory(const std::string& state_dir, std::uint32_t uid,
                                               std::uint32_t gid) {
  if (state_dir.empty() || state_dir.front() != '/') {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("the state directory must be an absolute path, not \"{}\"", state_dir));
  }
  const bool foreign = uid != geteuid();
  BAWN_TRY(make_directory(state_dir, 0700));
  const std::string sessions = state_dir + "/sessions";
  BAWN_TRY(make_directory(sessions, 0700));
  remove_abandoned(sessions);
  const std::string path = sessions + "/" + BAWN_TRY(new_name());
  // Searchable, not readable, where another user must pass: the random name is what they lack.
  const mode_t passage = foreign ? 0711 : 0700;
  // Neither side can be listed: the names of other calls' files are nobody's business.
  const mode_t side = foreign ? 0710 : 0300;
  for (const auto& [directory, mode] :
       {std::pair{path, passage}, {path + "/r", side}, {path + "/w", side}}) {
    BAWN_TRY(make_directory(directory, mode));
    if (chmod(directory.c_str(), mode) != 0 ||
        (foreign && mode == side && chown(directory.c_str(), static_cast<uid_t>(-1), gid) != 0)) {
      return std::unexpected(
          Error::from_errno(errno, "chmod", fmt::format("cannot set who may enter {}", directory)));
    }
  }
  // Serves as /tmp where no mounts can be had.
  BAWN_TRY(make_directory(path + "/tmp", 0700));
  if (foreign && chown((path + "/tmp").c_str(), uid, gid) != 0) {
    return std::unexpected(Error::from_errno(errno, "chown", "cannot give away " + path + "/tmp"));
  }
  if (foreign && (chmod(state_dir.c_str(), 0711) != 0 || chmod(sessions.c_str(), 0711) != 0)) {
    return std::unexpected(
        Error::from_errno(errno, "chmod", fmt::format("cannot make {} passable", sessions)));
  }
  return path;
}

Result<SessionDir> SessionDir::open(std::string path) {
  SessionDir dir;
  dir.lock_.reset(::open((path + kLock).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!dir.lock_.is_open() || flock(dir.lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::write(dir.lock_.get(), "1", 1) != 1) {
    return std::unexpected(Error::from_errno(
        errno, "flock", fmt::format("cannot take the session directory {}", path)));
  }
  dir.read_path_ = path + "/r/";
  dir.write_path_ = path + "/w/";
  dir.path_ = std::move(path);
  dir.read_fd_.reset(::open(dir.read_path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  dir.write_fd_.reset(::open(dir.write_path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  if (!dir.read_fd_.is_open() || !dir.write_fd_.is_open() ||
      fstat(dir.read_fd_.get(), &status) != 0) {
    return std::unexpected(Error::from_errno(
        errno, "open", fmt::format("cannot open the session directory {}", dir.path_)));
  }
  dir.foreign_ = (status.st_mode & S_IXGRP) != 0;
  if (dir.foreign_) {
    // New files take the directory's group, so that none has to be changed one by one.
    for (const std::string& side : {dir.read_path_, dir.write_path_}) {
      if (chmod(side.c_str(), 02710) != 0) {
        return std::unexpected(
            Error::from_errno(errno, "chmod", "cannot set the group of " + side));
      }
    }
  }
  return dir;
}

Result<os::UniqueFd> SessionDir::make_text(const std::string& name) const {
  os::UniqueFd file(openat(read_fd_.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           foreign_ ? kForeignText : kOwnText));
  if (!file.is_open()) {
    return std::unexpected(Error::from_errno(errno, "openat", "cannot store the call's text"));
  }
  if (foreign_ && fchmod(file.get(), kForeignText) != 0) {
    return std::unexpected(Error::from_errno(errno, "fchmod", "cannot share the call's text"));
  }
  return file;
}

Result<> SessionDir::write_text(const std::string& name, std::string_view first,
                                std::string_view second) const {
  const os::UniqueFd file = BAWN_TRY(make_text(name));
  BAWN_TRY(write_all(file.get(), first));
  return write_all(file.get(), second);
}

mode_t SessionDir::output_mode() const noexcept {
  return foreign_ ? kForeignOutput : kOwnOutput;
}

Result<> SessionDir::make_fifo(const os::UniqueFd& side, const std::string& name,
                               mode_t mode) const {
  if (mkfifoat(side.get(), name.c_str(), mode) != 0 ||
      (foreign_ && fchmodat(side.get(), name.c_str(), mode, 0) != 0)) {
    return std::unexpected(Error::from_errno(errno, "mkfifoat", "cannot make a FIFO of the call"));
  }
  return {};
}

/// Where no layer keeps commands from renaming in w/, the name may be a link or a file by now, and
/// we are outside the wall: following it would read for the command what it must not.
Result<os::UniqueFd> SessionDir::open_fifo(const os::UniqueFd& side, const std::string& name,
                                           int flags) {
  os::UniqueFd fifo(openat(side.get(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fifo.is_open()) {
    return std::unexpected(Error::from_errno(errno, "openat", "cannot open a FIFO of the session"));
  }
  struct stat found{};
  if (fstat(fifo.get(), &found) != 0 || !S_ISFIFO(found.st_mode)) {
    return contract::fail(contract::ErrorCode::PermissionDenied,
                          "a command replaced a FIFO of the session; nothing was read from it");
  }
  return fifo;
}

namespace {

/// Both ends of one FIFO of which we have the reading one: a write end can only be opened without
/// blocking when there is a reader, and through the descriptor it is sure to be the same FIFO.
Result<os::UniqueFd> write_end_of(const os::UniqueFd& read) {
  const std::string same = fmt::format("/proc/self/fd/{}", read.get());
  os::UniqueFd write(::open(same.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!write.is_open()) {
    return std::unexpected(Error::from_errno(errno, "open", "cannot open a FIFO of the call"));
  }
  return write;
}

}  // namespace

Result<OutputFifo> SessionDir::make_output(const std::string& name) const {
  BAWN_TRY(make_fifo(write_fd_, name, output_mode()));
  OutputFifo fifo;
  fifo.read = BAWN_TRY(open_fifo(write_fd_, name, O_RDONLY));
  fifo.keep = BAWN_TRY(write_end_of(fifo.read));
  return fifo;
}

bool SessionDir::renew_output(const std::string& old_name, const std::string& name,
                              OutputFifo& fifo) const {
  // A pipe that grew would keep its share of the user's pipe pages (pipe(7)) while nothing runs.
  constexpr int kUsualPipe = 64 * 1024;
  struct stat ours{};
  struct stat named{};
  if (fcntl(fifo.read.get(), F_GETPIPE_SZ) > kUsualPipe ||
      renameat(write_fd_.get(), old_name.c_str(), write_fd_.get(), name.c_str()) != 0) {
    return false;
  }
  // No writer has it and nobody knows its name: so none will, but through a descriptor that a
  // process of this session kept for the purpose.
  char byte = 0;
  if (fstat(fifo.read.get(), &ours) == 0 &&
      fstatat(write_fd_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino &&
      ::read(fifo.read.get(), &byte, 1) == 0) {
    if (auto keep = write_end_of(fifo.read)) {
      fifo.keep = *std::move(keep);
      return true;
    }
  }
  unlinkat(write_fd_.get(), name.c_str(), 0);
  return false;
}

Result<InputFifo> SessionDir::make_input(const std::string& name) const {
  BAWN_TRY(make_fifo(read_fd_, name, foreign_ ? kForeignText : kOwnText));
  InputFifo fifo;
  fifo.read = BAWN_TRY(open_fifo(read_fd_, name, O_RDONLY));
  fifo.write = BAWN_TRY(write_end_of(fifo.read));
  return fifo;
}

Result<os::UniqueFd> SessionDir::make_report(const std::string& name) const {
  BAWN_TRY(make_fifo(write_fd_, name, output_mode()));
  return open_fifo(write_fd_, name, O_RDWR);
}

Result<StateFile> SessionDir::make_state_file(const std::string& name) const {
  const mode_t mode = output_mode();
  os::UniqueFd file(openat(write_fd_.get(), name.c_str(),
                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file.is_open() || (foreign_ && fchmod(file.get(), mode) != 0)) {
    return std::unexpected(
        Error::from_errno(errno, "openat", "cannot make the shell's state file"));
  }
  return StateFile([held = std::make_shared<const os::UniqueFd>(std::move(file))](
                       std::size_t limit) { return read_whole(held->get(), limit); });
}

void SessionDir::remove_text(const std::string& name) const noexcept {
  unlinkat(read_fd_.get(), name.c_str(), 0);
}

void SessionDir::remove_output(const std::string& name) const noexcept {
  unlinkat(write_fd_.get(), name.c_str(), 0);
}

void SessionDir::remove() const noexcept {
  remove_session(path_);
}

}  // namespace bawn::shell
