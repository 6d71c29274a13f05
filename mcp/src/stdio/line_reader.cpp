#include "stdio/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace bawn::mcp {
namespace {

// One read takes what a pipe of the default size holds.
constexpr std::size_t kChunk = 64U << 10U;
// A buffer that one long line has blown up is given back.
constexpr std::size_t kKept = 4 * kChunk;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::span<char> LineReader::prepare() {
  drop_consumed();
  if (buffer_.size() - filled_ < kChunk) {
    try {
      buffer_.resize(filled_ + kChunk);
    } catch (const std::bad_alloc&) {
      starved_ = filled_ > 0 && filled_ == buffer_.size();
    }
  }
  return {buffer_.data() + filled_, buffer_.size() - filled_};
}

void LineReader::commit(std::size_t bytes) {
  filled_ += bytes;
}

std::optional<LineReader::Line> LineReader::next() {
  while (true) {
    const void* const found = std::memchr(buffer_.data() + scanned_, '\n', filled_ - scanned_);
    if (found == nullptr) {
      scanned_ = filled_;
      const bool no_memory = std::exchange(starved_, false);
      const bool too_long = no_memory || filled_ - begin_ > max_line_;
      if (!too_long && !skipping_) {
        return std::nullopt;
      }
      const std::string_view head(buffer_.data() + begin_, filled_ - begin_);
      begin_ = filled_;
      if (skipping_) {
        return std::nullopt;
      }
      skipping_ = true;
      return Line{.text = head, .too_long = true, .no_memory = no_memory};
    }
    const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
    if (auto line = take(end, end + 1)) {
      return line;
    }
  }
}

std::optional<LineReader::Line> LineReader::last() {
  return take(filled_, filled_);
}

std::optional<LineReader::Line> LineReader::take(std::size_t end, std::size_t next_begin) {
  std::string_view text(buffer_.data() + begin_, end - begin_);
  begin_ = scanned_ = next_begin;
  if (std::exchange(skipping_, false) || is_blank(text)) {
    return std::nullopt;
  }
  if (text.size() > max_line_) {
    return Line{.text = text, .too_long = true};
  }
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return Line{.text = text};
}

void LineReader::drop_consumed() {
  if (begin_ == 0) {
    return;
  }
  const std::size_t rest = filled_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, rest);
  if (buffer_.size() > kKept && rest <= kChunk) {
    buffer_.resize(kChunk);
    buffer_.shrink_to_fit();  // or not, for want of memory
  }
  scanned_ -= begin_;
  filled_ = rest;
  begin_ = 0;
}

}  // namespace bawn::mcp
