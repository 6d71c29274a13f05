/// \file
/// What a terminal would show: takes the bytes that programs write to it and keeps the screen.
#pragma once

#include "bawn/shell/session.hpp"
#include "screen_parser.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::shell {

/// A screen of the xterm kind as far as its text goes: cursor movement, erasing, inserting and
/// deleting, scroll regions, the alternate screen, tabs, line drawing, characters of two columns.
/// Colours are dropped, combining marks too, and nothing is ever answered to a query.
///
/// Threads: not thread-safe.
class Screen final : private ScreenActions {
 public:
  explicit Screen(TerminalSize size);

  void feed(std::string_view bytes) { parser_.feed(bytes, *this); }
  /// As a terminal without reflow: what no longer fits is cut, the rest stays.
  void resize(TerminalSize size);

  /// The lines without trailing blanks, empty ones at the end left out.
  [[nodiscard]] std::string text() const;
  /// True once a program placed its cursor: what it wrote is then no longer a sequence of lines.
  [[nodiscard]] bool addressed() const noexcept { return addressed_; }
  /// Row and column of the cursor, from 0.
  [[nodiscard]] std::pair<int, int> cursor() const noexcept { return {at_.row, at_.column}; }

 private:
  using Row = std::vector<char32_t>;
  struct Position {
    int row = 0;
    int column = 0;
  };

  void print(char32_t code) override;
  void control(char byte) override;
  void escape(char intermediate, char final) override;
  void sequence(const ControlSequence& sequence) override;

  bool move(const ControlSequence& sequence);
  bool edit(const ControlSequence& sequence);
  void set_mode(const ControlSequence& sequence, bool on);
  void go_to(int row, int column);
  void line_feed();
  void reverse_line_feed();
  void scroll_up(int top, int count);
  void scroll_down(int top, int count);
  void erase_display(int what);
  void erase_line(int what);
  void erase(int row, int from, int to);
  void use_alternate(bool on);
  void reset();
  [[nodiscard]] Row blank() const { return Row(static_cast<std::size_t>(columns_), U' '); }
  [[nodiscard]] Row& row(int index) { return rows_[static_cast<std::size_t>(index)]; }

  ScreenParser parser_;
  int columns_;
  int lines_;
  std::vector<Row> rows_;
  std::vector<Row> main_;  ///< the main screen while the alternate one is shown
  Position at_;
  Position saved_;
  Position main_at_;
  int top_ = 0;
  int bottom_;  ///< last line of the scroll region
  char32_t last_ = U' ';
  bool alternate_ = false;
  bool wrap_next_ = false;  ///< the cursor stands behind the last column
  bool auto_wrap_ = true;
  bool origin_ = false;
  bool line_drawing_ = false;
  bool addressed_ = false;
};

}  // namespace bawn::shell
