#include "text_encoding.hpp"

#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::files {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kUtf16LeMark = "\xFF\xFE";
constexpr std::string_view kUtf16BeMark = "\xFE\xFF";
constexpr std::size_t kSniffed = 8192;

char32_t unit_at(std::string_view bytes, std::size_t at, bool little) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  const auto second = static_cast<unsigned char>(bytes[at + 1]);
  return little ? static_cast<char32_t>(first | (second << 8U))
                : static_cast<char32_t>(second | (first << 8U));
}

struct FromUtf16 {
  std::string text;
  bool well_formed = true;
};

/// UTF-16 behind its mark. Each unit that is ill-formed becomes U+FFFD.
FromUtf16 from_utf16(std::string_view bytes, bool little) {
  constexpr char32_t kReplacement = 0xFFFD;
  FromUtf16 result;
  result.text.reserve(bytes.size());
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) {
    char32_t unit = unit_at(bytes, at, little);
    if (unit >= 0xD800 && unit <= 0xDFFF) {
      const char32_t low = at + 3 < bytes.size() ? unit_at(bytes, at + 2, little) : 0;
      const bool pair = unit <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF;
      result.well_formed = result.well_formed && pair;
      unit = pair ? 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00) : kReplacement;
      at += pair ? 2 : 0;
    }
    append_code_point(result.text, unit);
  }
  if (at < bytes.size()) {
    result.well_formed = false;
    append_code_point(result.text, kReplacement);
  }
  return result;
}

std::string from_latin1(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char byte : bytes) {
    append_code_point(text, static_cast<unsigned char>(byte));
  }
  return text;
}

std::unexpected<Error> not_encodable(char32_t point, Encoding encoding) {
  return contract::fail(
      ErrorCode::InvalidArgument,
      fmt::format("the encoding {} has no U+{:04X}; make the file UTF-8 (write_file with encoding "
                  "utf-8), or leave that character out",
                  to_string(encoding), static_cast<unsigned>(point)));
}

void append_utf16(std::string& out, char32_t unit, bool little) {
  const auto low = static_cast<char>(unit & 0xFFU);
  const auto high = static_cast<char>((unit >> 8U) & 0xFFU);
  out += little ? low : high;
  out += little ? high : low;
}

Result<std::string> to_units(std::string_view text, Encoding encoding) {
  const bool little = encoding == Encoding::Utf16Le;
  std::string out;
  if (encoding != Encoding::Latin1) {
    out.append(little ? kUtf16LeMark : kUtf16BeMark);
  }
  while (!text.empty()) {
    const CodePoint next = next_code_point(text);
    if (next.size == 0) {
      return contract::fail(ErrorCode::InvalidArgument, "the text is not UTF-8");
    }
    text.remove_prefix(next.size);
    if (encoding == Encoding::Latin1) {
      if (next.point > 0xFF) {
        return not_encodable(next.point, encoding);
      }
      out += static_cast<char>(next.point);
    } else if (next.point >= 0x10000) {
      append_utf16(out, 0xD800 + ((next.point - 0x10000) >> 10U), little);
      append_utf16(out, 0xDC00 + ((next.point - 0x10000) & 0x3FFU), little);
    } else {
      append_utf16(out, next.point, little);
    }
  }
  return out;
}

DecodedText in_utf16(std::string text, Encoding encoding) {
  DecodedText decoded{.text = std::move(text), .style = {}};
  decoded.style = {.encoding = encoding,
                   .ending = line_ending_of(decoded.text),
                   .final_newline = decoded.text.empty() || decoded.text.ends_with('\n'),
                   .invalid_bytes = 0};
  return decoded;
}

}  // namespace

std::string_view to_string(Encoding encoding) noexcept {
  switch (encoding) {
    case Encoding::Utf8:
      return "utf-8";
    case Encoding::Utf8Bom:
      return "utf-8-bom";
    case Encoding::Utf16Le:
      return "utf-16le";
    case Encoding::Utf16Be:
      return "utf-16be";
    case Encoding::Latin1:
      return "latin-1";
  }
  return "utf-8";
}

std::string_view to_string(LineEnding ending) noexcept {
  switch (ending) {
    case LineEnding::None:
      return "none";
    case LineEnding::Lf:
      return "lf";
    case LineEnding::CrLf:
      return "crlf";
    case LineEnding::Mixed:
      return "mixed";
  }
  return "none";
}

bool looks_binary(std::string_view bytes) noexcept {
  if (bytes.starts_with(kUtf16LeMark) || bytes.starts_with(kUtf16BeMark)) {
    return false;
  }
  const std::string_view head = bytes.substr(0, kSniffed);
  if (head.find('\0') != std::string_view::npos) {
    return true;
  }
  const auto controls = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' &&
            byte != '\b' && byte != 0x1B) ||
           byte == 0x7F;
  });
  return static_cast<std::size_t>(controls) * 10 > head.size();
}

std::optional<DecodedText> decode_text(std::string bytes) {
  for (const auto& [mark, encoding] :
       {std::pair{kUtf16LeMark, Encoding::Utf16Le}, std::pair{kUtf16BeMark, Encoding::Utf16Be}}) {
    if (bytes.starts_with(mark)) {
      auto read =
          from_utf16(std::string_view(bytes).substr(mark.size()), encoding == Encoding::Utf16Le);
      // What is ill-formed could not come back byte for byte. FF FE 00 00 begins UTF-32 as well,
      // and NUL is no text in either.
      if (!read.well_formed || read.text.find('\0') != std::string::npos) {
        return std::nullopt;
      }
      return in_utf16(std::move(read.text), encoding);
    }
  }
  const auto style = style_of(bytes);
  if (!style) {
    return std::nullopt;
  }
  if (style->encoding == Encoding::Latin1) {
    bytes = from_latin1(bytes);
  } else if (style->encoding == Encoding::Utf8Bom) {
    bytes.erase(0, kUtf8Mark.size());
  }
  return DecodedText{.text = std::move(bytes), .style = *style};
}

std::optional<TextStyle> style_of(std::string_view bytes) {
  if (bytes.starts_with(kUtf16LeMark) || bytes.starts_with(kUtf16BeMark)) {
    const auto decoded = decode_text(std::string(bytes));
    return decoded ? std::optional(decoded->style) : std::nullopt;
  }
  if (looks_binary(bytes) || bytes.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  const bool marked = bytes.starts_with(kUtf8Mark);
  bytes.remove_prefix(marked ? kUtf8Mark.size() : 0);
  const Utf8Survey survey = survey_utf8(bytes);
  const bool foreign = !marked && survey.invalid_bytes > survey.multibyte;
  return TextStyle{.encoding = marked    ? Encoding::Utf8Bom
                               : foreign ? Encoding::Latin1
                                         : Encoding::Utf8,
                   .ending = line_ending_of(bytes),
                   .final_newline = bytes.empty() || bytes.ends_with('\n'),
                   .invalid_bytes = foreign ? 0 : survey.invalid_bytes};
}

std::string style_change(std::string_view before, std::string_view after) {
  const auto old = style_of(before);
  const auto now = style_of(after);
  if (!old || !now || before.empty() || after.empty()) {
    return {};
  }
  const auto is_ascii = [](std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  // Without letters beyond ASCII these two are the same bytes.
  const auto plain = [](Encoding encoding) {
    return encoding == Encoding::Utf8 || encoding == Encoding::Latin1;
  };
  std::string text;
  if (old->encoding != now->encoding &&
      !(plain(old->encoding) && plain(now->encoding) && (is_ascii(before) || is_ascii(after)))) {
    text = fmt::format("the encoding was {} and is {} now", to_string(old->encoding),
                       to_string(now->encoding));
  }
  const bool lines = old->ending != LineEnding::None && now->ending != LineEnding::None;
  if (lines && old->ending != now->ending) {
    text += fmt::format("{}the line ends were {} and are {} now", text.empty() ? "" : ", ",
                        to_string(old->ending), to_string(now->ending));
  }
  return text;
}

std::string utf16_for_reading(std::string_view bytes) {
  const bool little = bytes.starts_with(kUtf16LeMark);
  return from_utf16(bytes.substr(std::min(bytes.size(), kUtf16LeMark.size())), little).text;
}

Result<std::string> encode_text(std::string text, Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return text;
    case Encoding::Utf8Bom:
      return std::string(kUtf8Mark) + text;
    case Encoding::Utf16Le:
    case Encoding::Utf16Be:
    case Encoding::Latin1:
      return to_units(text, encoding);
  }
  return text;
}

LineEnding line_ending_of(std::string_view text) noexcept {
  if (text.find('\r') == std::string_view::npos) {
    // Most files; searching for every line's end takes several times as long.
    return text.find('\n') == std::string_view::npos ? LineEnding::None : LineEnding::Lf;
  }
  bool lf = false;
  bool crlf = false;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    (at > 0 && text[at - 1] == '\r' ? crlf : lf) = true;
    if (lf && crlf) {
      return LineEnding::Mixed;
    }
  }
  return crlf ? LineEnding::CrLf : lf ? LineEnding::Lf : LineEnding::None;
}

std::string with_line_ending(std::string_view text, LineEnding ending) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      out.append(text);
      break;
    }
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    out.append(line);
    out.append(ending == LineEnding::CrLf ? "\r\n" : "\n");
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace bawn::files
