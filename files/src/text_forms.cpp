#include "text_forms.hpp"

#include "lines.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>

namespace bawn::files {

namespace {

/// Takes up no room where text is shown: soft hyphen, zero width, direction and joining marks.
bool is_invisible(char32_t point) {
  return point == 0xAD || point == 0x61C || (point >= 0x200B && point <= 0x200F) ||
         (point >= 0x202A && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) ||
         point == 0xFEFF;
}

bool is_control(char32_t point) {
  return (point < 0x20 && !is_blank(static_cast<char>(point))) || (point >= 0x7F && point < 0xA0);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return out.append(text);
}

}  // namespace

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

std::string squeezed(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return !is_blank(c); });
  return out;
}

std::string plain_marks(std::string_view text) {
  static constexpr std::array<std::pair<char32_t, std::string_view>, 16> kPlain = {
      {{0x2018, "'"},
       {0x2019, "'"},
       {0x201A, "'"},
       {0x201B, "'"},
       {0x201C, "\""},
       {0x201D, "\""},
       {0x201E, "\""},
       {0x00AB, "\""},
       {0x00BB, "\""},
       {0x2010, "-"},
       {0x2011, "-"},
       {0x2012, "-"},
       {0x2013, "-"},
       {0x2014, "-"},
       {0x00A0, " "},
       {0x2026, "..."}}};
  std::string out;
  while (!text.empty()) {
    const CodePoint next = next_code_point(text);
    const auto* const found = std::find_if(
        kPlain.begin(), kPlain.end(), [&](const auto& pair) { return pair.first == next.point; });
    const std::size_t size = next.size == 0 ? 1 : next.size;
    out.append(found != kPlain.end() && next.size != 0 ? found->second : text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

std::string folded(std::string_view text) {
  std::string out = squeezed(plain_marks(writable_part(text)));
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return out;
}

std::string trimmed_ends(std::string_view text) {
  std::string out;
  for (std::string_view line : split_lines(text)) {
    while (!line.empty() && is_blank(line.back())) {
      line.remove_suffix(1);
    }
    out.append(line);
    out += '\n';
  }
  return out;
}

std::string untabbed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank || out.empty() || out.back() != ' ') {
      out += blank ? ' ' : c;
    }
  }
  return out;
}

std::string with_lf(std::string_view text) {
  return replaced(text, "\r\n", "\n");
}

std::string writable_part(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint next = next_code_point(text);
    const std::size_t size = next.size == 0 ? 1 : next.size;
    if (next.size != 0 && next.point != 0xFFFD && !is_control(next.point) &&
        !is_invisible(next.point)) {
      out.append(text.substr(0, size));
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string unwritable_part(std::string_view text) {
  std::set<char32_t> points;
  bool bytes = false;
  while (!text.empty()) {
    const CodePoint next = next_code_point(text);
    bytes = bytes || next.size == 0;
    if (next.size != 0 && (is_control(next.point) || is_invisible(next.point))) {
      points.insert(next.point);
    }
    text.remove_prefix(next.size == 0 ? 1 : next.size);
  }
  constexpr std::size_t kShown = 4;
  std::string named;
  std::size_t count = 0;
  for (const char32_t point : points) {
    if (++count <= kShown) {
      named += fmt::format("{}U+{:04X}", count == 1 ? "" : ", ", static_cast<unsigned>(point));
    }
  }
  if (count != 0) {
    named =
        fmt::format("control or invisible characters ({}{})", named, count > kShown ? ", …" : "");
  }
  if (bytes) {
    named += fmt::format("{}bytes that are not UTF-8, which are shown as U+FFFD",
                         named.empty() ? "" : " and ");
  }
  return named;
}

}  // namespace bawn::files
