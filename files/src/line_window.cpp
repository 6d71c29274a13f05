#include "line_window.hpp"

#include "lines.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::files {

namespace {

/// Offsets of lines, found once, going forward only as far as asked.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text) : text_(text) {}

  /// The byte at which line `number` begins; text.size() when there are fewer lines.
  std::size_t start_of(std::size_t number) {
    if (number < line_) {
      line_ = 1;
      at_ = 0;
    }
    while (line_ < number && at_ < text_.size()) {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      ++line_;
    }
    return at_;
  }

 private:
  std::string_view text_;
  std::size_t line_ = 1;
  std::size_t at_ = 0;
};

std::string shown_line(std::string_view line, std::size_t number, const WindowOptions& options,
                       bool& cut) {
  cut = line.size() > options.max_line_bytes;
  std::string shown = options.numbered ? fmt::format("{:>6}\t", number) : std::string();
  if (!cut) {
    return shown + to_valid_utf8(line) + "\n";
  }
  const std::size_t kept = cut_at(line, options.max_line_bytes);
  return shown + to_valid_utf8(line.substr(0, kept)) +
         fmt::format(" … [line cut: {} of {} bytes shown]\n", kept, line.size());
}

}  // namespace

Windows show_lines(std::string_view text, const std::vector<LineRange>& ranges,
                   const WindowOptions& options) {
  Windows shown;
  shown.total_lines = count_lines(text);
  LineIndex index(text);
  std::size_t left = options.max_bytes;
  for (const LineRange& range : ranges) {
    LineWindow window;
    std::size_t at = index.start_of(range.first);
    for (std::size_t number = range.first; at < text.size() && number - range.first < range.count;
         ++number) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      bool cut = false;
      const std::string line =
          shown_line(without_line_end(text.substr(at, end - at)), number, options, cut);
      // The first line is always shown, so that a small limit never shows nothing.
      if (line.size() > left && (window.first != 0 || !shown.windows.empty())) {
        window.full = true;
        break;
      }
      left -= std::min(left, line.size());
      window.text += line;
      window.first = window.first == 0 ? number : window.first;
      window.last = number;
      window.cut_lines += cut ? 1 : 0;
      at = end;
    }
    shown.windows.push_back(std::move(window));
  }
  return shown;
}

}  // namespace bawn::files
