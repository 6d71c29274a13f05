/// \file
/// A program of our own choosing, run inside the session's wall to its end.
#pragma once

#include "bawn/files/place.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

struct InsideRun {
  std::string out;
  std::string err;  ///< the first 64 KiB
  std::optional<int> exit_code;
  int exec_errno = 0;  ///< ENOENT: there is no such program in the session's PATH
  bool cut = false;    ///< it printed more than allowed and was ended
  bool late = false;   ///< the deadline passed and it was ended
};

/// Says of a line that was printed, with its newline, whether it is kept.
using KeepLine = bool (*)(std::string_view line);

/// What is kept of an output: at most `most` bytes of whole lines, which `end` ends; with `keep`
/// only those that it keeps.
struct KeepOutput {
  std::size_t most = 0;
  KeepLine keep = nullptr;
  char end = '\n';
};

/// Runs argv in `directory` without input and keeps what it prints. At the context's deadline the
/// program is ended, and what it printed until then is kept.
///
/// Errors: those of the spawn; Cancelled, when the program is ended.
/// Blocking: until it ends.
[[nodiscard]] Result<InsideRun> run_inside(const contract::Context& context, const Place& place,
                                           std::vector<std::string> argv,
                                           const std::string& directory, const KeepOutput& output);

}  // namespace bawn::files
