/// \file
/// Extended attributes that a file made anew may have again: the user's own and the access list.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bawn::files {

struct Attributes {
  std::vector<std::pair<std::string, std::string>> values;  ///< name and bytes
  bool complete = true;  ///< false: there were more, or others, than are kept
};

/// Those of an open file, up to 16 KiB in all.
[[nodiscard]] Attributes attributes_of(int fd);

/// Sets them on a file that has none; false unless the file then has all that there were.
[[nodiscard]] bool set_attributes(int fd, const Attributes& attributes);

}  // namespace bawn::files
