/// \file
/// Parts of a text by line numbers, as a reader sees them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

struct LineRange {
  std::size_t first = 1;     ///< line number, from 1
  std::size_t count = 2000;  ///< lines at most
};

struct WindowOptions {
  bool numbered = true;                ///< "     7\ttext" as `cat -n` writes it
  std::size_t max_line_bytes = 2000;   ///< longer lines are cut there, and the cut is said
  std::size_t max_bytes = 100 * 1024;  ///< of the whole window's text
};

/// One range as shown. Valid UTF-8; bytes that are not become U+FFFD.
struct LineWindow {
  std::string text;
  std::size_t first = 0;      ///< first line shown; 0 when none is
  std::size_t last = 0;       ///< last line shown
  std::size_t cut_lines = 0;  ///< lines that were longer than allowed
  bool full = false;          ///< max_bytes ended it before the range was complete
};

struct Windows {
  std::vector<LineWindow> windows;  ///< one for each range, in the same order
  std::size_t total_lines = 0;      ///< of the text
};

/// Builds windows from a text that comes piece by piece, without keeping what is not shown.
///
/// Lines lose their line end and get "\n". `max_bytes` holds for all windows together. Where no
/// range wants a line its bytes are only counted.
class WindowBuilder {
 public:
  WindowBuilder(std::vector<LineRange> ranges, const WindowOptions& options);
  /// Makes room for what a text of that many bytes can take, so that it is not copied as it grows.
  void expect(std::size_t bytes);
  /// The next piece.
  void feed(std::string_view piece);
  /// After the last piece.
  [[nodiscard]] Windows finish();

 private:
  [[nodiscard]] bool wants(std::size_t line) const;
  [[nodiscard]] std::size_t next_wanted(std::size_t line) const;
  void end_line();
  void keep(std::string_view part);
  void show_kept();
  void show(std::string_view start, std::size_t size);
  void append_line(std::string& text, std::string_view start, std::size_t size) const;

  std::vector<LineRange> ranges_;
  WindowOptions options_;
  Windows shown_;
  std::size_t left_;
  std::size_t line_ = 1;       ///< number of the line that is being read
  std::string text_;           ///< its first bytes, when it is wanted and comes in pieces
  std::size_t size_ = 0;       ///< all its bytes so far
  bool ends_with_cr_ = false;  ///< its last byte so far
};

/// Shows `ranges` of a text that is there whole.
[[nodiscard]] Windows show_lines(std::string_view text, const std::vector<LineRange>& ranges,
                                 const WindowOptions& options);

}  // namespace bawn::files
