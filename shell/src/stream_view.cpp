#include "stream_view.hpp"

#include "line_view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::shell {

namespace {

/// Length of the UTF-8 sequence that begins `text`, 0 when it is not one, -1 when it is cut off.
int sequence_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) {
    return 1;
  }
  const int length = lead >= 0xC2 && lead <= 0xDF   ? 2
                     : lead >= 0xE0 && lead <= 0xEF ? 3
                     : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                    : 0;
  for (int i = 1; i < length; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (index >= text.size()) {
      return -1;
    }
    const unsigned char next = at(index);
    // Overlong forms, surrogates and values above U+10FFFF show in the second byte.
    const unsigned char low = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (next < low || next > high) {
      return 0;
    }
  }
  return length;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

/// Where a head of at most `text.size()` bytes ends well.
std::size_t head_end(std::string_view text) noexcept {
  const std::size_t newline = text.rfind('\n');
  if (newline != std::string_view::npos && newline + 1 >= text.size() - text.size() / 4) {
    return newline + 1;
  }
  return text.size() - incomplete_suffix(text);
}

/// Where a tail begins well.
std::size_t tail_begin(std::string_view text) noexcept {
  const std::size_t newline = text.find('\n');
  if (newline != std::string_view::npos && newline < text.size() / 4) {
    return newline + 1;
  }
  std::size_t at = 0;
  while (at < text.size() && at < 3 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
    ++at;
  }
  return at;
}

std::uint64_t newlines_in(std::string_view text) noexcept {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void tidy_text(std::string& text, const ScriptName& script, StreamView& view) {
  if (!script.path.empty()) {
    replace_all(text, script.path, script.shown);
  }
  view.folded = fold_controls(text) || view.folded;
  view.folded = fold_carriage_returns(text) || view.folded;
  view.invalid_bytes += make_valid_utf8(text);
}

std::size_t incomplete_suffix(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::string_view suffix = text.substr(text.size() - back);
    if ((static_cast<unsigned char>(suffix[0]) & 0xC0U) != 0x80U) {
      return sequence_length(suffix) == -1 ? back : 0;
    }
  }
  return 0;
}

bool fold_carriage_returns(std::string& text) {
  if (text.find('\r') == std::string::npos) {
    return false;
  }
  std::string folded;
  folded.reserve(text.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = std::min(text.find('\n', begin), text.size());
    std::size_t end = newline;
    while (end > begin && text[end - 1] == '\r') {
      --end;
    }
    const std::size_t last = text.rfind('\r', end == 0 ? 0 : end - 1);
    const bool overwritten =
        end > begin && last != std::string::npos && last >= begin && last < end;
    folded.append(text, overwritten ? last + 1 : begin, end - (overwritten ? last + 1 : begin));
    if (newline < text.size()) {
      folded.append(end < newline ? "\r\n" : "\n");
    }
    begin = newline + 1;
  }
  const bool changed = folded.size() != text.size();
  text = std::move(folded);
  return changed;
}

std::uint64_t make_valid_utf8(std::string& text) {
  std::uint64_t invalid = 0;
  std::string valid;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const int length = sequence_length(std::string_view(text).substr(at));
    if (length > 0) {
      at += static_cast<std::size_t>(length);
      continue;
    }
    valid.append(text, copied, at - copied).append("\xEF\xBF\xBD");
    copied = ++at;
    ++invalid;
  }
  if (invalid != 0) {
    valid.append(text, copied);
    text = std::move(valid);
  }
  return invalid;
}

StreamView make_view(const OutputBuffer& buffer, const ViewOptions& options) {
  StreamView view;
  view.bytes = buffer.bytes();
  view.lines = buffer.lines();
  view.stored = buffer.stored();
  view.from = std::min(options.from, buffer.bytes());
  view.next = buffer.bytes();
  if (options.raw) {
    show_raw(buffer, options, view);
    return view;
  }
  if (options.filter != nullptr) {
    show_lines(buffer, options, view);
    return view;
  }
  const std::uint64_t wanted = buffer.bytes() - view.from;
  if (wanted <= options.max_bytes && view.from + wanted <= buffer.stored()) {
    view.text = buffer.read(view.from, static_cast<std::size_t>(wanted));
    if (options.open_end) {
      const std::size_t cut =
          std::max(incomplete_suffix(view.text), incomplete_sequence(view.text));
      view.text.resize(view.text.size() - cut);
      view.next -= cut;
    }
    tidy_text(view.text, options.script, view);
    return view;
  }
  std::string head = buffer.read(view.from, options.max_bytes / 2);
  head.resize(head_end(head));
  std::uint64_t tail_at =
      std::max(buffer.bytes() - std::min<std::uint64_t>(options.max_bytes / 2, buffer.bytes()),
               view.from + head.size());
  if (tail_at >= buffer.stored()) {
    tail_at = std::max(tail_at, buffer.tail_begin());  // what lies between was never kept
  }
  std::string tail = buffer.read(tail_at, options.max_bytes / 2);
  const std::size_t skip = tail_begin(tail);
  tail.erase(0, skip);
  tail_at += skip;
  view.missing_bytes = tail_at - (view.from + head.size());
  const std::uint64_t before = newlines_in(head) + newlines_in(tail);
  view.missing_lines =
      view.from == 0 && buffer.newlines() > before ? buffer.newlines() - before : 0;
  tidy_text(head, options.script, view);
  tidy_text(tail, options.script, view);
  const std::string lines =
      view.missing_lines == 0 ? "" : fmt::format(" ({} lines)", view.missing_lines);
  view.text = fmt::format("{}{}[... {} bytes{} left out; read them from offset {} ...]\n{}", head,
                          head.empty() || head.ends_with('\n') ? "" : "\n", view.missing_bytes,
                          lines, tail_at - view.missing_bytes, tail);
  return view;
}

}  // namespace bawn::shell
