/// \file
/// Directories that are read entry by entry.
#pragma once

#include "bawn/os/unique_fd.hpp"

#include <dirent.h>

#include <memory>

namespace bawn::sandbox {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

/// Takes the descriptor of a directory; null when it cannot be read.
[[nodiscard]] inline DirectoryStream open_stream(os::UniqueFd directory) {
  DirectoryStream stream(directory.is_open() ? ::fdopendir(directory.get()) : nullptr);
  if (stream) {
    (void)directory.release();
  }
  return stream;
}

}  // namespace bawn::sandbox
