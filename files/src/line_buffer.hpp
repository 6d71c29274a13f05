/// \file
/// A text's lines that change from one place to the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::files {

/// Lines with a gap where they changed last: a change costs the lines between it and the one before
/// it, and not all that follow.
class LineBuffer {
 public:
  struct Line {
    std::string_view text;
    bool taken = false;  ///< written by a change: no other may touch it
  };

  explicit LineBuffer(const std::vector<std::string_view>& lines) {
    lines_.reserve(lines.size());
    for (const std::string_view line : lines) {
      lines_.push_back({.text = line});
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return lines_.size() - gap(); }
  [[nodiscard]] const Line& operator[](std::size_t at) const noexcept {
    return lines_[at < gap_begin_ ? at : at + gap()];
  }

  /// Puts `fresh` in the place of `count` lines from `at` on. Returns how many others it moved.
  std::size_t replace(std::size_t at, std::size_t count, const std::vector<Line>& fresh) {
    const std::size_t moved = move_gap(at);
    gap_end_ += count;
    if (gap() < fresh.size()) {
      widen(fresh.size());
    }
    std::copy(fresh.begin(), fresh.end(), iterator_at(gap_begin_));
    gap_begin_ += fresh.size();
    return moved;
  }

 private:
  [[nodiscard]] std::size_t gap() const noexcept { return gap_end_ - gap_begin_; }
  [[nodiscard]] std::vector<Line>::iterator iterator_at(std::size_t index) {
    return lines_.begin() + static_cast<std::ptrdiff_t>(index);
  }

  std::size_t move_gap(std::size_t at) {
    const std::size_t before = gap_begin_;
    if (at < gap_begin_) {
      std::move_backward(iterator_at(at), iterator_at(gap_begin_), iterator_at(gap_end_));
    } else {
      std::move(iterator_at(gap_end_), iterator_at(at + gap()), iterator_at(gap_begin_));
    }
    gap_end_ = at + gap();
    gap_begin_ = at;
    return at < before ? before - at : at - before;
  }

  /// Makes the gap hold `room` lines and as many again as there are, so that this is rare.
  void widen(std::size_t room) {
    const std::size_t more = room + size();
    lines_.insert(iterator_at(gap_end_), more, Line{});
    gap_end_ += more;
  }

  std::vector<Line> lines_;
  std::size_t gap_begin_ = 0;
  std::size_t gap_end_ = 0;
};

}  // namespace bawn::files
