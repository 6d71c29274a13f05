/// \file
/// A session's private temporary directory on the host, for walls without mounts.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace bawn::sandbox {

/// Removes its directory with all that is in it at the end.
class ScratchDirectory {
 public:
  /// A new directory of mode 0700 below $TMPDIR or /tmp, owned by `uid` and `gid`.
  ///
  /// Errors: by errno.
  static contract::Result<std::shared_ptr<const ScratchDirectory>> make(std::uint32_t uid,
                                                                        std::uint32_t gid);
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace bawn::sandbox
