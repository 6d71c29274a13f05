/// \file
/// Questions about absolute, canonical paths as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// True when `path` is `root` or lies below it. Both absolute, without a final slash but "/"
/// itself.
[[nodiscard]] bool is_within(std::string_view path, std::string_view root) noexcept;

/// True when `path` lies below `root` and is not `root`.
[[nodiscard]] bool is_below(std::string_view path, std::string_view root) noexcept;

/// True when one of `roots` is `path` or above it.
[[nodiscard]] bool is_within_any(std::string_view path, const std::vector<std::string>& roots);

/// True in /proc, /sys and /dev, where no workspace and no writable root can lie. Shared memory,
/// /dev/shm and what lies below it, is a file system like others.
[[nodiscard]] bool belongs_to_kernel(std::string_view path);

/// "/a/b" of "/a/b/c"; "/" of "/a" and of "/".
[[nodiscard]] std::string parent_of(std::string_view path);

/// The directories strictly between `root` and `path`, outermost first.
[[nodiscard]] std::vector<std::string> directories_between(std::string_view root,
                                                           std::string_view path);

/// The directory that holds this session's and its neighbours' directories ("…/sessions"), or the
/// session's own where it lies elsewhere: what nobody but the session itself may see into.
[[nodiscard]] std::string session_store(std::string_view session_dir);

[[nodiscard]] bool contains(const std::vector<std::string>& list, std::string_view item);

}  // namespace bawn::sandbox
