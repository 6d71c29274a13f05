#include "read_entry.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::files {

std::vector<LineRange> ranges_of(const ReadArgs& args) {
  std::vector<LineRange> ranges;
  for (const RangeArgs& range : args.ranges) {
    ranges.push_back(
        {static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.limit)});
  }
  if (ranges.empty()) {
    ranges.push_back({static_cast<std::size_t>(args.offset), static_cast<std::size_t>(args.limit)});
  }
  return ranges;
}

WindowOptions window_options(const ReadArgs& args) {
  return {.numbered = args.numbered,
          .max_line_bytes = static_cast<std::size_t>(args.max_line_bytes),
          .max_bytes = static_cast<std::size_t>(args.max_bytes)};
}

Result<> check_together(const ReadArgs& args) {
  const ReadArgs usual;
  const bool lines = args.offset != usual.offset || args.limit != usual.limit;
  if (lines && !args.ranges.empty()) {
    return contract::fail(ErrorCode::InvalidArgument, "give either ranges, or offset and limit");
  }
  if ((lines || !args.ranges.empty()) && (args.byte_offset || args.byte_count)) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "give either lines (offset, limit, ranges), or bytes (byte_offset, "
                          "byte_count)");
  }
  return {};
}

void add_windows(ReadEntry& entry, Windows windows) {
  entry.total_lines = windows.total_lines;
  for (LineWindow& window : windows.windows) {
    entry.parts.push_back({.first_line = window.first,
                           .last_line = window.last,
                           .text = std::move(window.text),
                           .cut_lines = window.cut_lines,
                           .truncated = window.full});
  }
}

std::string text_of(const ReadEntry& entry, const std::vector<LineRange>& ranges) {
  constexpr std::size_t kAround = 1024;
  std::string text;
  std::size_t room = kAround;
  for (const PartEntry& part : entry.parts) {
    room += part.text.size();
  }
  text.reserve(room);
  const std::uint64_t total = entry.total_lines.value_or(0);
  for (std::size_t i = 0; i < entry.parts.size(); ++i) {
    const PartEntry& part = entry.parts[i];
    if (entry.parts.size() > 1) {
      text += fmt::format("[lines {} to {}]\n", part.first_line, part.last_line);
    }
    text += part.text;
    if (part.first_line == 0 && total != 0) {
      text += fmt::format("[no line {}: the file has {}]\n", ranges[i].first, total);
    } else if (part.last_line < total && i + 1 == entry.parts.size()) {
      text += fmt::format("[lines {} to {} of {}; offset {} goes on]\n", part.first_line,
                          part.last_line, total, part.last_line + 1);
    }
  }
  if (entry.size == 0 && entry.kind == "text" && total == 0) {
    text += "[the file is empty]\n";
  }
  if (entry.encoding && *entry.encoding != "utf-8") {
    text += fmt::format("[encoding: {}]\n", *entry.encoding);
  }
  if (entry.line_ending == "crlf" || entry.line_ending == "mixed") {
    text += fmt::format("[line ends: {}]\n", *entry.line_ending);
  }
  if (entry.final_newline == false) {
    text += "[no newline at the end of the file]\n";
  }
  for (const std::string& note : entry.notes) {
    text += fmt::format("[{}]\n", note);
  }
  if (entry.etag) {
    text += fmt::format("[etag {}]\n", *entry.etag);
  }
  return text;
}

}  // namespace bawn::files
