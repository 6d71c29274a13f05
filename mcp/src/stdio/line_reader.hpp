/// \file
/// Cuts a stream of bytes into lines in bounded memory.
/// Source: MCP, stdio transport: messages are delimited by newlines and contain none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// Fill the space that prepare() gives, tell commit() how much it was, then take lines by next()
/// until there is none.
class LineReader {
 public:
  explicit LineReader(std::size_t max_line_bytes) : max_line_(max_line_bytes) {}

  /// One line, or the beginning of one that is longer than allowed, or than there is memory for,
  /// and whose rest is skipped.
  struct Line {
    std::string_view text;  ///< without "\n" or "\r\n"; valid until the next prepare()
    bool too_long = false;
    bool no_memory = false;
  };

  /// Space for the next bytes; empty when there is no memory for more of a line, which next() then
  /// gives up.
  [[nodiscard]] std::span<char> prepare();
  void commit(std::size_t bytes);
  /// The next line that is not blank; none when the rest has no end yet.
  [[nodiscard]] std::optional<Line> next();
  /// At the end of the stream: the last line, when it has no newline.
  [[nodiscard]] std::optional<Line> last();
  /// Bytes of a line whose end has not come yet.
  [[nodiscard]] std::size_t unfinished() const noexcept { return filled_ - begin_; }

 private:
  [[nodiscard]] std::optional<Line> take(std::size_t end, std::size_t next_begin);
  void drop_consumed();

  const std::size_t max_line_;
  std::string buffer_;
  std::size_t filled_ = 0;   // bytes of buffer_ that hold data
  std::size_t begin_ = 0;    // of the line being looked for
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_)
  bool skipping_ = false;    // inside a line that was already reported as too long
  bool starved_ = false;     // no memory for the rest of the line
};

}  // namespace bawn::mcp
