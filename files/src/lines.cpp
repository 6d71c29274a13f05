#include "lines.hpp"

#include <algorithm>
#include <cstring>

namespace bawn::files {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

std::string_view without_line_end(std::string_view line) noexcept {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
  }
  return line;
}

std::size_t count_newlines(std::string_view text) noexcept {
  // GCC's vectors: the loop over single bytes costs five times as much, which a large file shows.
  using Block = unsigned char __attribute__((vector_size(16)));
  constexpr std::size_t kMost = 255;  // what one byte of a sum can hold
  std::size_t count = 0;
  while (text.size() >= sizeof(Block)) {
    const std::size_t blocks = std::min(text.size() / sizeof(Block), kMost);
    Block sums = {};
    for (std::size_t i = 0; i < blocks; ++i) {
      Block block;
      std::memcpy(&block, text.data() + i * sizeof block, sizeof block);
      sums -= reinterpret_cast<Block>(block == '\n');  // a byte that is equal is all ones
    }
    for (std::size_t i = 0; i < sizeof(Block); ++i) {
      count += sums[i];
    }
    text.remove_prefix(blocks * sizeof(Block));
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t line_number_at(std::string_view text, std::size_t at) noexcept {
  return 1 + count_newlines(text.substr(0, at));
}

std::size_t count_lines(std::string_view text) noexcept {
  const std::size_t ends = count_newlines(text);
  return text.empty() || text.ends_with('\n') ? ends : ends + 1;
}

}  // namespace bawn::files
