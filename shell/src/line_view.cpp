#include "line_view.hpp"

#include "bawn/contract/codec_types.hpp"
#include "bawn/contract/error.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace bawn::shell {

namespace {

constexpr std::size_t kChunk = 256 * 1024;
/// What is looked at of one line.
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::int64_t kPatternMemory = 8 * 1024 * 1024;

std::uint64_t newlines_before(const OutputBuffer& buffer, std::uint64_t offset) {
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; at < offset;) {
    const std::string bytes =
        buffer.read(at, static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, offset - at)));
    if (bytes.empty()) {
      break;
    }
    count += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    at += bytes.size();
  }
  return count;
}

/// Calls `take` with each line from `from` on, without its newline, and the offset behind it, until
/// it returns false. A last line without a newline is a line only when the stream has ended.
void each_line(const OutputBuffer& buffer, std::uint64_t from, bool open_end,
               const std::function<bool(std::string_view, std::uint64_t)>& take) {
  std::string held;       // the beginning of a line that goes on in the next chunk
  std::uint64_t cut = 0;  // bytes of it that were not kept
  for (std::uint64_t at = from;;) {
    const std::string bytes = buffer.read(at, kChunk);
    if (bytes.empty()) {
      if (!open_end && held.size() + cut > 0) {
        take(held, at);
      }
      return;
    }
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t newline = bytes.find('\n', begin);
      const std::size_t end = std::min(newline, bytes.size());
      const std::size_t room = kLongestLine - std::min(kLongestLine, held.size());
      held.append(bytes, begin, std::min(end - begin, room));
      cut += end - begin - std::min(end - begin, room);
      begin = end + 1;
      if (newline != std::string::npos) {
        if (!take(held, at + begin)) {
          return;
        }
        held.clear();
        cut = 0;
      }
    }
    at += bytes.size();
  }
}

}  // namespace

Result<LineFilter> LineFilter::make(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // output is any bytes
  auto compiled = std::make_shared<const re2::RE2>(pattern, options);
  if (!compiled->ok()) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("the pattern is no regular expression of RE2: {}", compiled->error()));
  }
  return LineFilter(std::move(compiled));
}

bool LineFilter::takes(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern_);
}

std::uint64_t offset_of_line(const OutputBuffer& buffer, std::uint64_t line) {
  if (line <= 1) {
    return 0;
  }
  std::uint64_t left = line - 1;
  for (std::uint64_t at = 0;;) {
    const std::string bytes = buffer.read(at, kChunk);
    if (bytes.empty()) {
      return buffer.bytes();
    }
    for (std::size_t begin = 0;;) {
      const std::size_t newline = bytes.find('\n', begin);
      if (newline == std::string::npos) {
        break;
      }
      begin = newline + 1;
      if (--left == 0) {
        return at + begin;
      }
    }
    at += bytes.size();
  }
}

void show_lines(const OutputBuffer& buffer, const ViewOptions& options, StreamView& view) {
  std::uint64_t number = newlines_before(buffer, view.from);
  view.next = view.from;
  each_line(buffer, view.from, options.open_end, [&](std::string_view line, std::uint64_t behind) {
    ++number;
    if (options.filter->takes(line)) {
      std::string shown(line);
      tidy_text(shown, options.script, view);
      shown = fmt::format("{}:{}\n", number, shown);
      if (view.text.size() + shown.size() > options.max_bytes && !view.text.empty()) {
        return false;
      }
      view.text += shown;
    }
    view.next = behind;
    return true;
  });
  // Beyond what is kept nothing can be looked at: said by `stored` and by what is missing.
  view.missing_bytes = view.next >= buffer.stored() ? buffer.bytes() - view.next : 0;
  if (options.open_end && view.next < buffer.stored()) {
    view.missing_bytes = 0;
  }
}

void show_raw(const OutputBuffer& buffer, const ViewOptions& options, StreamView& view) {
  const std::string bytes = buffer.read(view.from, options.max_bytes / 4 * 3);
  view.next = view.from + bytes.size();
  view.missing_bytes = 0;
  view.base64 = true;
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  view.text = contract::detail::to_base64({data, data + bytes.size()});
}

}  // namespace bawn::shell
