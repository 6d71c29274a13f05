#include "stream_view.hpp"

#include <algorithm>

namespace bawn::shell {

namespace {

constexpr char kEscape = '\x1B';
constexpr char kBell = '\x07';
/// Longer ones are not sequences that somebody meant.
constexpr std::size_t kLongestSequence = 4096;

bool is_shown(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7F) || c == '\n' || c == '\t' || c == '\r' || c == '\0';
}

/// Length of the sequence that begins `text` with ESC; 0 when it is cut off.
std::size_t sequence_length(std::string_view text) noexcept {
  if (text.size() < 2) {
    return 0;
  }
  const char kind = text[1];
  std::size_t at = 2;
  if (kind == '[') {
    while (at < text.size() && text[at] >= 0x20 && text[at] < 0x40) {
      ++at;
    }
    return at < text.size() ? at + 1 : 0;
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    for (; at < text.size() && at < kLongestSequence; ++at) {
      if (text[at] == kBell) {
        return at + 1;
      }
      if (text[at] == kEscape) {
        return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : at;
      }
    }
    return at < text.size() ? 2 : 0;
  }
  at = 1;
  while (at < text.size() && text[at] >= 0x20 && text[at] < 0x30) {
    ++at;
  }
  return at >= text.size() ? 0 : text[at] >= 0x30 ? at + 1 : at;
}

void drop_characters(std::string& text, std::size_t count) {
  while (count > 0 && !text.empty() && text.back() != '\n' && text.back() != '\r') {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
      text.pop_back();
    }
    text.pop_back();
    --count;
  }
}

}  // namespace

std::size_t incomplete_sequence(std::string_view text) noexcept {
  constexpr std::size_t kFar = 64;
  const std::size_t escape = text.rfind(kEscape);
  return escape != std::string_view::npos && text.size() - escape < kFar &&
                 sequence_length(text.substr(escape)) == 0
             ? text.size() - escape
             : 0;
}

void fold_line_ends(std::string& text) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\r' || at + 1 == text.size() || text[at + 1] != '\n') {
      text[kept++] = text[at];
    }
  }
  text.resize(kept);
}

bool fold_controls(std::string& text) {
  if (std::all_of(text.begin(), text.end(), is_shown) && text.find('\xC2') == std::string::npos) {
    return false;
  }
  std::string folded;
  folded.reserve(text.size());
  std::size_t back = 0;  // backspaces count only once something is written over
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == kEscape) {
      const std::size_t length = sequence_length(std::string_view(text).substr(at));
      at += (length == 0 ? text.size() - at : length) - 1;
    } else if (c == '\b') {
      ++back;
    } else if (c == '\n' || c == '\r') {
      back = 0;
      folded += c;
    } else if (c == '\xC2' && at + 1 < text.size() &&
               static_cast<unsigned char>(text[at + 1]) < 0xA0 &&
               static_cast<unsigned char>(text[at + 1]) >= 0x80) {
      folded += "\xEF\xBF\xBD";  // a control character of C1: some terminals obey it
      ++at;
    } else if (c != kBell) {
      drop_characters(folded, back);
      back = 0;
      if (is_shown(c)) {
        folded += c;
      } else {
        folded += '^';
        folded += static_cast<char>(c ^ 0x40);
      }
    }
  }
  const bool changed = folded != text;
  text = std::move(folded);
  return changed;
}

}  // namespace bawn::shell
