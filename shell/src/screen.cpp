#include "screen.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bawn::shell {

namespace {

constexpr int kMostColumns = 1000;
constexpr int kMostLines = 500;
/// The second half of a character of two columns.
constexpr char32_t kContinuation = 0;

/// The DEC special graphics of the bytes 0x60 to 0x7E.
constexpr std::u32string_view kLineDrawing = U"◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

}  // namespace

Screen::Screen(TerminalSize size)
    : columns_(std::clamp<int>(size.columns, 1, kMostColumns)),
      lines_(std::clamp<int>(size.rows, 1, kMostLines)),
      rows_(static_cast<std::size_t>(lines_), blank()),
      bottom_(lines_ - 1) {}

void Screen::resize(TerminalSize size) {
  const int lines = std::clamp<int>(size.rows, 1, kMostLines);
  columns_ = std::clamp<int>(size.columns, 1, kMostColumns);
  for (auto* screen : {&rows_, &main_}) {
    // The cursor's line stays visible: lines go from the top.
    if (static_cast<int>(screen->size()) > lines && screen == &rows_ && at_.row >= lines) {
      const int gone = at_.row - lines + 1;
      screen->erase(screen->begin(), screen->begin() + gone);
      at_.row -= gone;
    }
    if (screen == &rows_ || alternate_) {
      screen->resize(static_cast<std::size_t>(lines), blank());
    }
    for (Row& row : *screen) {
      row.resize(static_cast<std::size_t>(columns_), U' ');
    }
  }
  lines_ = lines;
  top_ = 0;
  bottom_ = lines_ - 1;
  go_to(at_.row, at_.column);
}

std::string Screen::text() const {
  std::string text;
  std::size_t used = 0;
  for (const Row& row : rows_) {
    std::size_t end = row.size();
    while (end > 0 && row[end - 1] == U' ') {
      --end;
    }
    for (std::size_t at = 0; at < end; ++at) {
      if (row[at] != kContinuation) {
        append_utf8(text, row[at]);
      }
    }
    used = end > 0 ? text.size() + 1 : used;
    text += '\n';
  }
  text.resize(used);
  return text;
}

void Screen::go_to(int row, int column) {
  at_.row = std::clamp(row, 0, lines_ - 1);
  at_.column = std::clamp(column, 0, columns_ - 1);
  wrap_next_ = false;
}

void Screen::print(char32_t code) {
  if (line_drawing_ && code >= 0x60 && code <= 0x7E) {
    code = kLineDrawing[code - 0x60];
  }
  const int width = std::min(columns_of(code), columns_);
  if (width == 0) {
    return;
  }
  if (wrap_next_ || at_.column + width > columns_) {
    if (auto_wrap_) {
      line_feed();
      at_.column = 0;
    } else {
      at_.column = columns_ - width;
    }
  }
  wrap_next_ = false;
  Row& line = row(at_.row);
  const auto at = static_cast<std::size_t>(at_.column);
  const std::size_t end = at + static_cast<std::size_t>(width);
  if (line[at] == kContinuation && at > 0) {
    line[at - 1] = U' ';
  }
  if (end < line.size() && line[end] == kContinuation) {
    line[end] = U' ';
  }
  line[at] = code;
  if (width == 2) {
    line[at + 1] = kContinuation;
  }
  last_ = code;
  at_.column += width;
  if (at_.column >= columns_) {
    at_.column = columns_ - 1;
    wrap_next_ = true;
  }
}

void Screen::control(char byte) {
  switch (byte) {
    case '\b':
      go_to(at_.row, at_.column - 1);
      return;
    case '\t':
      go_to(at_.row, (at_.column / 8 + 1) * 8);
      return;
    case '\n':
    case '\v':
    case '\f':
      line_feed();
      return;
    case '\r':
      go_to(at_.row, 0);
      return;
    default:
      return;
  }
}

void Screen::escape(char intermediate, char final) {
  if (intermediate == '(') {
    line_drawing_ = final == '0';
  }
  if (intermediate != 0) {
    return;
  }
  switch (final) {
    case '7':
      saved_ = at_;
      return;
    case '8':
      go_to(saved_.row, saved_.column);
      return;
    case 'D':
      line_feed();
      return;
    case 'E':
      line_feed();
      go_to(at_.row, 0);
      return;
    case 'M':
      reverse_line_feed();
      return;
    case 'c':
      reset();
      return;
    default:
      return;
  }
}

void Screen::sequence(const ControlSequence& sequence) {
  if (sequence.intermediate == '!' && sequence.final == 'p') {
    top_ = 0;
    bottom_ = lines_ - 1;
    origin_ = false;
    auto_wrap_ = true;
    return;
  }
  if (sequence.intermediate != 0) {
    return;
  }
  if (sequence.final == 'h' || sequence.final == 'l') {
    set_mode(sequence, sequence.final == 'h');
  } else if (sequence.prefix == 0 && !move(sequence)) {
    edit(sequence);
  }
}

bool Screen::move(const ControlSequence& sequence) {
  const int count = sequence.at(0, 1);
  const int first = origin_ ? top_ : 0;
  switch (sequence.final) {
    case 'A':
      go_to(std::max(at_.row - count, at_.row >= top_ ? top_ : 0), at_.column);
      break;
    case 'B':
    case 'e':
      go_to(std::min(at_.row + count, at_.row <= bottom_ ? bottom_ : lines_ - 1), at_.column);
      break;
    case 'C':
    case 'a':
      go_to(at_.row, at_.column + count);
      return true;  // along the line only: still a sequence of lines
    case 'D':
      go_to(at_.row, at_.column - count);
      return true;
    case 'E':
      go_to(at_.row + count, 0);
      break;
    case 'F':
      go_to(at_.row - count, 0);
      break;
    case 'G':
    case '`':
      go_to(at_.row, count - 1);
      return true;
    case 'H':
    case 'f':
      go_to(first + count - 1, sequence.at(1, 1) - 1);
      break;
    case 'd':
      go_to(first + count - 1, at_.column);
      break;
    case 's':
      saved_ = at_;
      return true;
    case 'u':
      go_to(saved_.row, saved_.column);
      break;
    default:
      return false;
  }
  addressed_ = true;
  return true;
}

bool Screen::edit(const ControlSequence& sequence) {
  const int count = sequence.at(0, 1);
  Row& line = row(at_.row);
  const auto here = line.begin() + at_.column;
  const int room = std::min(count, columns_ - at_.column);
  switch (sequence.final) {
    case 'J':
      erase_display(sequence.at(0, 0));
      return true;
    case 'K':
      erase_line(sequence.at(0, 0));
      return true;
    case 'X':
      erase(at_.row, at_.column, at_.column + room);
      return true;
    case '@':
      std::move_backward(here, line.end() - room, line.end());
      std::fill(here, here + room, U' ');
      return true;
    case 'P':
      std::move(here + room, line.end(), here);
      std::fill(line.end() - room, line.end(), U' ');
      return true;
    case 'L':
      if (at_.row >= top_ && at_.row <= bottom_) {
        scroll_down(at_.row, count);
      }
      return true;
    case 'M':
      if (at_.row >= top_ && at_.row <= bottom_) {
        scroll_up(at_.row, count);
      }
      return true;
    case 'S':
      scroll_up(top_, count);
      return true;
    case 'T':
      scroll_down(top_, count);
      return true;
    case 'b':
      for (int i = 0; i < std::min(count, columns_ * lines_); ++i) {
        print(last_);
      }
      return true;
    case 'r': {
      const int top = sequence.at(0, 1) - 1;
      const int bottom = std::min(sequence.at(1, lines_), lines_) - 1;
      if (top < bottom) {
        top_ = top;
        bottom_ = bottom;
        go_to(origin_ ? top_ : 0, 0);
        addressed_ = true;
      }
      return true;
    }
    default:
      return false;
  }
}

void Screen::set_mode(const ControlSequence& sequence, bool on) {
  if (sequence.prefix != '?') {
    return;
  }
  for (std::size_t at = 0; at < sequence.count; ++at) {
    switch (sequence.parameters[at]) {
      case 6:
        origin_ = on;
        go_to(on ? top_ : 0, 0);
        break;
      case 7:
        auto_wrap_ = on;
        break;
      case 47:
      case 1047:
      case 1049:
        use_alternate(on);
        break;
      default:
        break;
    }
  }
}

void Screen::use_alternate(bool on) {
  addressed_ = true;
  if (on == alternate_) {
    return;
  }
  alternate_ = on;
  if (on) {
    main_at_ = at_;
    main_ = std::exchange(rows_, std::vector<Row>(static_cast<std::size_t>(lines_), blank()));
  } else {
    rows_ = std::exchange(main_, {});
    go_to(main_at_.row, main_at_.column);
  }
}

void Screen::line_feed() {
  wrap_next_ = false;
  if (at_.row == bottom_) {
    scroll_up(top_, 1);
  } else if (at_.row < lines_ - 1) {
    ++at_.row;
  }
}

void Screen::reverse_line_feed() {
  wrap_next_ = false;
  if (at_.row == top_) {
    scroll_down(top_, 1);
  } else if (at_.row > 0) {
    --at_.row;
  }
}

void Screen::scroll_up(int top, int count) {
  count = std::min(count, bottom_ - top + 1);
  std::rotate(rows_.begin() + top, rows_.begin() + top + count, rows_.begin() + bottom_ + 1);
  std::fill(rows_.begin() + bottom_ + 1 - count, rows_.begin() + bottom_ + 1, blank());
}

void Screen::scroll_down(int top, int count) {
  count = std::min(count, bottom_ - top + 1);
  std::rotate(rows_.begin() + top, rows_.begin() + bottom_ + 1 - count,
              rows_.begin() + bottom_ + 1);
  std::fill(rows_.begin() + top, rows_.begin() + top + count, blank());
}

void Screen::erase(int line, int from, int to) {
  Row& cells = row(line);
  std::fill(cells.begin() + from, cells.begin() + to, U' ');
}

void Screen::erase_line(int what) {
  erase(at_.row, what == 0 ? at_.column : 0, what == 1 ? at_.column + 1 : columns_);
}

void Screen::erase_display(int what) {
  if (what == 0 || what == 1) {
    erase_line(what);
  }
  const int from = what == 0 ? at_.row + 1 : 0;
  const int to = what == 1 ? at_.row : what == 3 ? 0 : lines_;
  for (int line = from; line < to; ++line) {
    erase(line, 0, columns_);
  }
}

void Screen::reset() {
  rows_.assign(static_cast<std::size_t>(lines_), blank());
  main_.clear();
  alternate_ = false;
  top_ = 0;
  bottom_ = lines_ - 1;
  origin_ = false;
  auto_wrap_ = true;
  line_drawing_ = false;
  go_to(0, 0);
}

}  // namespace bawn::shell
