/// \file
/// Extended attributes through a descriptor: the user's own and the access list.
#pragma once

#include "bawn/sandbox/file_agent.hpp"

#include <cstddef>

namespace bawn::sandbox {

/// Bytes of all values of one file that are kept.
inline constexpr std::size_t kMostAttributes = std::size_t{16} * 1024;

[[nodiscard]] FileAttributes read_attributes(int fd);

/// Sets them on a file that has none; false unless it then has all that there were. An agent's word
/// on what may be set is not enough, since it could be in other hands: it is looked at here.
[[nodiscard]] bool write_attributes(int fd, const FileAttributes& attributes);

}  // namespace bawn::sandbox
