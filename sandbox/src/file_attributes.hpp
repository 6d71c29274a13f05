/// \file
/// Extended attributes through a descriptor: the user's own and the access list.
#pragma once

#include "bawn/sandbox/file_agent.hpp"

#include <string_view>

namespace bawn::sandbox {

/// Bytes of all values of one file that are kept.
inline constexpr std::size_t kMostAttributes = std::size_t{16} * 1024;

/// What a replaced file's successor may keep. An agent's word on it is not enough: it could be in
/// other hands.
[[nodiscard]] bool is_kept_attribute(std::string_view name) noexcept;

[[nodiscard]] FileAttributes read_attributes(int fd);

/// Sets them on a file that has none; false unless it then has all that there were.
[[nodiscard]] bool write_attributes(int fd, const FileAttributes& attributes);

}  // namespace bawn::sandbox
