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
    const std::string_view part = piece.substr(0, end);
    if (wanted && text_.size() <= options_.max_line_bytes + 4) {
      text_.append(part.substr(
          0, options_.max_line_bytes + 4 - std::min(text_.size(), options_.max_line_bytes + 4)));
    }
    size_ += part.size();
    ends_with_cr_ = part.empty() ? ends_with_cr_ : part.ends_with('\r');
    if (end == std::string_view::npos) {
      return;
    }
    if (wanted) {
      if (ends_with_cr_) {
        if (text_.size() == size_) {
          text_.pop_back();
        }
        --size_;
      }
      show();
    }
    end_line();
    piece.remove_prefix(end + 1);
  }
}

void WindowBuilder::end_line() {
  ++line_;
  text_.clear();
  size_ = 0;
  ends_with_cr_ = false;
}

void WindowBuilder::show() {
  const bool cut = size_ > options_.max_line_bytes;
  std::string line = options_.numbered ? fmt::format("{:>6}\t", line_) : std::string();
  if (cut) {
    const std::size_t kept = cut_at(text_, options_.max_line_bytes);
    line += to_valid_utf8(std::string_view(text_).substr(0, kept));
    line += fmt::format(" … [line cut: {} of {} bytes shown]\n", kept, size_);
  } else {
    line += to_valid_utf8(text_) + "\n";
  }
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    LineWindow& window = shown_.windows[i];
    if (window.full || line_ < ranges_[i].first || line_ - ranges_[i].first >= ranges_[i].count) {
      continue;
    }
    // The first line is always shown, so that a small limit never shows nothing.
    if (line.size() > left_ && left_ != options_.max_bytes) {
      window.full = true;
      continue;
    }
    left_ -= std::min(left_, line.size());
    window.text += line;
    window.first = window.first == 0 ? line_ : window.first;
    window.last = line_;
    window.cut_lines += cut ? 1 : 0;
  }
}

Windows WindowBuilder::finish() {
  if (size_ != 0) {
    if (wants(line_)) {
      show();
    }
    end_line();
  }
  shown_.total_lines = line_ - 1;
  return std::move(shown_);
}

Windows show_lines(std::string_view text, const std::vector<LineRange>& ranges,
                   const WindowOptions& options) {
  WindowBuilder builder(ranges, options);
  builder.feed(text);
  return builder.finish();
}

}  // namespace bawn::files
