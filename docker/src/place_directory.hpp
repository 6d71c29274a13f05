/// \file
/// A place's directory: seen at the same path on both sides, for the socket and the sessions'
/// channels.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <string>

namespace bawn::container {

/// Holds the directory's lock: as long as it does, the place belongs to a server that lives.
class PlaceDirectory {
 public:
  PlaceDirectory() = default;
  /// Makes `<state_dir>/places/<id>`. Nobody but this user gets to it from the host; inside, those
  /// who know a name in it may use that.
  ///
  /// Errors: by errno, naming the path.
  static contract::Result<PlaceDirectory> make(const std::string& state_dir, const std::string& id);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whether sessions' directories still lie where they were made: what runs in a container with a
  /// writable root, as the user who owns them, can put a link in their place.
  ///
  /// Errors: PermissionDenied.
  [[nodiscard]] contract::Result<> check_untouched() const;
  /// Once nothing runs in the container any more.
  void remove() noexcept;

 private:
  std::string path_;
  os::UniqueFd lock_;
  os::UniqueFd sessions_;  ///< O_PATH
};

/// `length` letters and digits from the kernel's random source.
[[nodiscard]] std::string random_word(std::size_t length);

}  // namespace bawn::container
