#include "place_directory.hpp"

#include "bawn/container/place.hpp"
#include "bawn/sandbox/remove_tree.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace bawn::container {
namespace {

Result<> make_directory(const std::string& path, mode_t mode) {
  if ((::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) || ::chmod(path.c_str(), mode) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "mkdir", fmt::format("cannot make the directory {}", path)));
  }
  return {};
}

}  // namespace

Result<PlaceDirectory> PlaceDirectory::make(const std::string& state_dir, const std::string& id) {
  BAWN_TRY(make_directory(state_dir + "/places", 0700));
  PlaceDirectory directory;
  directory.path_ = fmt::format("{}/places/{}", state_dir, id);
  BAWN_TRY(make_directory(directory.path_, 0711));
  directory.lock_.reset(::open((directory.path_ + "/lock").c_str(),
                               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!directory.lock_.is_open() || ::flock(directory.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected(
        Error::from_errno(errno, "flock", "cannot take the directory " + directory.path_));
  }
  const std::string sessions = directory.path_ + "/sessions";
  BAWN_TRY(make_directory(sessions, 0711));
  directory.sessions_.reset(
      ::open(sessions.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.sessions_.is_open()) {
    return std::unexpected(Error::from_errno(errno, "open", "cannot hold " + sessions));
  }
  return directory;
}

Result<> PlaceDirectory::check_untouched() const {
  struct stat held{};
  struct stat found{};
  if (::fstat(sessions_.get(), &held) == 0 && ::lstat((path_ + "/sessions").c_str(), &found) == 0 &&
      held.st_dev == found.st_dev && held.st_ino == found.st_ino) {
    return {};
  }
  return contract::fail(ErrorCode::PermissionDenied,
                        "the place's own directory was replaced from inside the container; close "
                        "the place with container_close and open a new one");
}

void PlaceDirectory::remove() noexcept {
  if (!path_.empty()) {
    sandbox::remove_tree(path_);
    path_.clear();
    lock_.reset();
  }
}

void remove_abandoned_places(const std::string& state_dir) {
  std::error_code error;
  std::vector<std::string> abandoned;
  for (std::filesystem::directory_iterator entry(state_dir + "/places", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    const os::UniqueFd lock(::open((path + "/lock").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
      abandoned.push_back(path);
    }
  }
  for (const std::string& path : abandoned) {
    sandbox::remove_tree(path);
  }
}

std::string random_word(std::size_t length) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string word;
  while (word.size() < length) {
    unsigned char byte = 0;
    if (::getrandom(&byte, 1, 0) == 1 && byte < 252) {  // a multiple of 36: all equally likely
      word += kLetters[byte % kLetters.size()];
    }
  }
  return word;
}

}  // namespace bawn::container
