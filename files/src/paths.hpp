/// \file
/// Paths as callers write them.
#pragma once

#include "bawn/files/place.hpp"

#include <string>
#include <string_view>

namespace bawn::files {

/// An absolute inside path: "~/" is the session's home, anything else relative starts at the
/// workspace. `..` and links are left for the kernel.
///
/// Errors: InvalidArgument for an empty path and one with NUL.
[[nodiscard]] Result<std::string> absolute_path(const Place& place, std::string_view path);

/// The same of a path that names a file. Errors also: InvalidArgument for one with a slash at its
/// end.
[[nodiscard]] Result<std::string> file_path(const Place& place, std::string_view path);

/// `path` without its "." and ".." parts, by text alone: a name for locks and resources, never to
/// open.
[[nodiscard]] std::string normal_path(std::string_view absolute);

/// `path` is somewhere below `directory`, by text alone.
[[nodiscard]] bool lies_below(std::string_view path, std::string_view directory);

/// The path as it is shown: relative to the workspace when it is below it.
[[nodiscard]] std::string shown_path(const Place& place, std::string_view absolute);

}  // namespace bawn::files
