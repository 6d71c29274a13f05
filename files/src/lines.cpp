#include "lines.hpp"

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

std::size_t line_number_at(std::string_view text, std::size_t at) noexcept {
  return 1 + count_newlines(text.substr(0, at));
}

std::size_t count_lines(std::string_view text) noexcept {
  const std::size_t ends = count_newlines(text);
  return text.empty() || text.ends_with('\n') ? ends : ends + 1;
}

}  // namespace bawn::files
