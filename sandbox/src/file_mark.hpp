/// \file
/// What a file looked like at one moment, for comparing. Nothing here follows a link.
#pragma once

#include "bawn/os/unique_fd.hpp"

#include <cstdint>
#include <string>

namespace bawn::sandbox {

/// Equal marks mean that neither content nor attributes changed, as far as the change time tells.
struct FileMark {
  bool exists = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  ///< change time, which no call can set
  std::uint64_t content = 0;    ///< over the marks of what lies in a directory, when asked for
  bool operator==(const FileMark&) const = default;
};

/// The directory at `path` below `root`, for use as the start of other paths; not open when a step
/// is missing, no directory, or a link.
[[nodiscard]] os::UniqueFd open_beneath(int root, const std::string& path) noexcept;

/// `name` in the directory `folder`; with an empty name the directory itself.
[[nodiscard]] FileMark mark_of(int folder, const std::string& name) noexcept;

/// The same with what lies in it, to a depth of 3 and 256 entries.
[[nodiscard]] FileMark deep_mark_of(int folder, const std::string& name);

}  // namespace bawn::sandbox
