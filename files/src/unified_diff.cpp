#include "diff.hpp"
#include "lines.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace bawn::files {

namespace {

using Lines = std::vector<std::string_view>;

void append_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += to_valid_utf8(line);
  if (!line.ends_with('\n')) {
    out += "\n\\ No newline at end of file\n";
  }
}

/// "7,3", "7" for one line, and "6,0" before which nothing stands.
std::string range_text(std::size_t first, std::size_t count) {
  if (count == 1) {
    return fmt::format("{}", first + 1);
  }
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

/// Two texts without most of what they begin and end with alike.
struct Differing {
  std::string_view before;
  std::string_view after;
  std::size_t first_line = 0;  ///< lines before them
};

std::size_t common_head(std::string_view a, std::string_view b) {
  constexpr std::size_t kBlock = 4096;
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (at + kBlock <= most && std::memcmp(a.data() + at, b.data() + at, kBlock) == 0) {
    at += kBlock;
  }
  while (at < most && a[at] == b[at]) {
    ++at;
  }
  return at;
}

std::size_t common_tail(std::string_view a, std::string_view b) {
  constexpr std::size_t kBlock = 4096;
  const std::size_t most = std::min(a.size(), b.size());
  const auto same = [&](std::size_t size, std::size_t length) {
    return std::memcmp(a.data() + a.size() - size, b.data() + b.size() - size, length) == 0;
  };
  std::size_t size = 0;
  while (size + kBlock <= most && same(size + kBlock, kBlock)) {
    size += kBlock;
  }
  while (size < most && same(size + 1, 1)) {
    ++size;
  }
  return size;
}

/// Cuts at line ends, and leaves `context` lines and one more on both sides: splitting a large file
/// into lines costs more than comparing its bytes.
Differing differing_part(std::string_view before, std::string_view after, std::size_t context) {
  std::size_t begin = common_head(before, after);
  for (std::size_t lines = 0; lines <= context + 1 && begin > 0; ++lines) {
    const std::size_t end = before.rfind('\n', begin - 1);
    begin = end == std::string_view::npos || begin == 1 ? 0 : end;
  }
  begin = begin == 0 ? 0 : begin + 1;
  Differing part{.before = before.substr(begin),
                 .after = after.substr(begin),
                 .first_line = count_newlines(before.substr(0, begin))};
  std::size_t tail = common_tail(part.before, part.after);
  for (std::size_t lines = 0; lines <= context + 1 && tail > 0; ++lines) {
    const std::size_t end = part.before.find('\n', part.before.size() - tail);
    tail = end == std::string_view::npos ? 0 : part.before.size() - end - 1;
  }
  part.before.remove_suffix(tail);
  part.after.remove_suffix(tail);
  return part;
}

/// Changes whose contexts touch make one hunk: the end of the group that begins at `begin`.
std::size_t group_end(const std::vector<Change>& changes, std::size_t begin, std::size_t context) {
  std::size_t end = begin + 1;
  while (end < changes.size() &&
         changes[end].old_first - (changes[end - 1].old_first + changes[end - 1].old_count) <=
             2 * context) {
    ++end;
  }
  return end;
}

std::string hunk(const Lines& before, const Lines& after, const std::vector<Change>& changes,
                 std::size_t begin, std::size_t end, std::size_t context, std::size_t base) {
  const Change& first = changes[begin];
  const Change& last = changes[end - 1];
  const std::size_t lead = std::min(context, first.old_first);
  const std::size_t tail = std::min(context, before.size() - (last.old_first + last.old_count));
  const std::size_t old_first = first.old_first - lead;
  const std::size_t new_first = first.new_first - lead;
  const std::size_t old_end = last.old_first + last.old_count + tail;
  const std::size_t new_end = last.new_first + last.new_count + tail;
  std::string out =
      fmt::format("@@ -{} +{} @@\n", range_text(base + old_first, old_end - old_first),
                  range_text(base + new_first, new_end - new_first));
  std::size_t at = old_first;
  for (std::size_t i = begin; i < end; ++i) {
    const Change& change = changes[i];
    for (; at < change.old_first; ++at) {
      append_line(out, ' ', before[at]);
    }
    for (; at < change.old_first + change.old_count; ++at) {
      append_line(out, '-', before[at]);
    }
    for (std::size_t n = 0; n < change.new_count; ++n) {
      append_line(out, '+', after[change.new_first + n]);
    }
  }
  for (; at < old_end; ++at) {
    append_line(out, ' ', before[at]);
  }
  return out;
}

}  // namespace

UnifiedDiff unified_diff(std::string_view old_name, std::string_view new_name,
                         std::string_view before, std::string_view after,
                         const DiffOptions& options) {
  UnifiedDiff result;
  const Differing part = differing_part(before, after, options.context);
  const Lines old_lines = split_lines(part.before);
  const Lines new_lines = split_lines(part.after);
  const std::vector<Change> changes = diff_lines(old_lines, new_lines);
  for (const Change& change : changes) {
    result.removed += change.old_count;
    result.added += change.new_count;
  }
  if (changes.empty()) {
    return result;
  }
  result.text = fmt::format("--- {}\n+++ {}\n", to_valid_utf8(old_name), to_valid_utf8(new_name));
  std::size_t left_out = 0;
  for (std::size_t begin = 0; begin < changes.size();) {
    const std::size_t end = group_end(changes, begin, options.context);
    // Made only while there is room: a hunk of a huge rewrite would cost as much as the file.
    std::size_t lines = 0;
    for (std::size_t i = begin; i < end; ++i) {
      lines += changes[i].old_count + changes[i].new_count;
    }
    if (left_out == 0 && result.text.size() + lines <= options.max_bytes) {
      const std::string text =
          hunk(old_lines, new_lines, changes, begin, end, options.context, part.first_line);
      if (result.text.size() + text.size() <= options.max_bytes) {
        result.text += text;
        begin = end;
        continue;
      }
    }
    ++left_out;
    begin = end;
  }
  if (left_out != 0) {
    result.cut = true;
    result.text +=
        fmt::format("[{} more {} left out; {} lines added, {} removed in all]\n", left_out,
                    left_out == 1 ? "hunk" : "hunks", result.added, result.removed);
  }
  return result;
}

}  // namespace bawn::files
