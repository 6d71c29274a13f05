#include "line_window.hpp"

#include "lines.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::files {

WindowBuilder::WindowBuilder(std::vector<LineRange> ranges, const WindowOptions& options)
    : ranges_(std::move(ranges)), options_(options), left_(options.max_bytes) {
  shown_.windows.resize(ranges_.size());
}

bool WindowBuilder::wants(std::size_t line) const {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (line >= ranges_[i].first && line - ranges_[i].first < ranges_[i].count &&
        !shown_.windows[i].full) {
      return true;
    }
  }
  return false;
}

std::size_t WindowBuilder::next_wanted(std::size_t line) const {
  std::size_t next = ~std::size_t{0};
  for (const LineRange& range : ranges_) {
    if (range.first > line && range.count != 0) {
      next = std::min(next, range.first);
    }
  }
  return next;
}

void WindowBuilder::expect(std::size_t bytes) {
  if (shown_.windows.size() == 1) {
    // Numbers make lines of the usual length longer by less than a quarter.
    shown_.windows[0].text.reserve(std::min(options_.max_bytes, bytes + bytes / 4));
  }
}

void WindowBuilder::feed(std::string_view piece) {
  while (!piece.empty()) {
    const bool wanted = wants(line_);
    const std::size_t next = wanted ? line_ + 1 : next_wanted(line_);
    if (next == ~std::size_t{0}) {
      // Nothing more is shown: the fastest way to count.
      line_ += count_newlines(piece);
      const std::size_t last = piece.rfind('\n');
      size_ = last == std::string_view::npos ? size_ + piece.size() : piece.size() - last - 1;
      return;
    }
    const std::size_t end = piece.find('\n');
    std::string_view part = piece.substr(0, end);
    if (end == std::string_view::npos) {
      if (wanted) {
        keep(part);
      }
      size_ += part.size();
      return;
    }
    piece.remove_prefix(end + 1);
    if (wanted && size_ == 0) {
      part.remove_suffix(part.ends_with('\r') ? 1 : 0);
      show(part, part.size());
    } else if (wanted) {
      keep(part);
      size_ += part.size();
      show_kept();
    }
    end_line();
  }
}

/// Adds to the first bytes of a line that comes in pieces: as many as can be shown, and those that
/// tell whether the last of them is whole.
void WindowBuilder::keep(std::string_view part) {
  const std::size_t most = options_.max_line_bytes + 4;
  text_.append(part.substr(0, most - std::min(text_.size(), most)));
  ends_with_cr_ = part.empty() ? ends_with_cr_ : part.ends_with('\r');
}

void WindowBuilder::end_line() {
  ++line_;
  text_.clear();
  size_ = 0;
  ends_with_cr_ = false;
}

void WindowBuilder::show_kept() {
  if (ends_with_cr_) {
    if (text_.size() == size_) {
      text_.pop_back();
    }
    --size_;
  }
  show(text_, size_);
}

/// Shows a line of `size` bytes that begins with `start`.
void WindowBuilder::show(std::string_view start, std::size_t size) {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    LineWindow& window = shown_.windows[i];
    if (window.full || line_ < ranges_[i].first || line_ - ranges_[i].first >= ranges_[i].count) {
      continue;
    }
    const std::size_t before = window.text.size();
    append_line(window.text, start, size);
    const std::size_t added = window.text.size() - before;
    // The first line is always shown, so that a small limit never shows nothing.
    if (added > left_ && left_ != options_.max_bytes) {
      window.text.resize(before);
      window.full = true;
      continue;
    }
    left_ -= std::min(left_, added);
    window.first = window.first == 0 ? line_ : window.first;
    window.last = line_;
    window.cut_lines += size > options_.max_line_bytes ? 1 : 0;
  }
}

void WindowBuilder::append_line(std::string& text, std::string_view start, std::size_t size) const {
  if (options_.numbered) {
    constexpr std::size_t kWidth = 6;
    const fmt::format_int number(line_);
    text.append(kWidth - std::min(kWidth, number.size()), ' ');
    text.append(number.data(), number.size());
    text += '\t';
  }
  if (size > options_.max_line_bytes) {
    const std::size_t kept = cut_at(start, options_.max_line_bytes);
    append_valid_utf8(text, start.substr(0, kept));
    text += fmt::format(" … [line cut: {} of {} bytes shown]\n", kept, size);
  } else {
    append_valid_utf8(text, start);
    text += '\n';
  }
}

Windows WindowBuilder::finish() {
  if (size_ != 0) {
    if (wants(line_)) {
      show(text_, size_);
    }
    end_line();
  }
  shown_.total_lines = line_ - 1;
  return std::move(shown_);
}

Windows show_lines(std::string_view text, const std::vector<LineRange>& ranges,
                   const WindowOptions& options) {
  WindowBuilder builder(ranges, options);
  builder.expect(text.size());
  builder.feed(text);
  return builder.finish();
}

}  // namespace bawn::files
