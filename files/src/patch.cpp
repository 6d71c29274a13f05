#include "patch.hpp"

#include "lines.hpp"

#include <fmt/format.h>

namespace bawn::files {

std::unexpected<Error> patch_error(std::size_t line, std::string_view problem) {
  return contract::fail(ErrorCode::InvalidArgument,
                        fmt::format("patch line {}: {}", line, problem));
}

Result<Patch> parse_patch(std::string_view text) {
  std::size_t number = 0;
  for (const std::string_view whole : split_lines(text)) {
    ++number;
    const std::string_view line = without_line_end(whole);
    if (line.starts_with("*** Begin Patch") || line.starts_with("*** Add File: ") ||
        line.starts_with("*** Update File: ") || line.starts_with("*** Delete File: ")) {
      return parse_marked_patch(text);
    }
    if (line.starts_with("diff --git ") || line.starts_with("--- ")) {
      return parse_unified_patch(text);
    }
    if (line.starts_with("@@ ")) {
      return patch_error(number,
                         "a hunk without a file: write \"--- a/PATH\" and \"+++ b/PATH\" "
                         "lines before it");
    }
  }
  return contract::fail(ErrorCode::InvalidArgument,
                        "patch line 1: this is no patch: expected \"diff --git\", \"--- \" or "
                        "\"*** Begin Patch\"");
}

}  // namespace bawn::files
