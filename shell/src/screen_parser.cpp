#include "screen_parser.hpp"

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {

constexpr unsigned char kEscape = 0x1B;
constexpr unsigned char kCancel = 0x18;
constexpr unsigned char kSubstitute = 0x1A;
constexpr int kLargestParameter = 9999;
constexpr char32_t kReplacement = 0xFFFD;

using Range = std::pair<char32_t, char32_t>;

constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},  {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},  {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},  {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0x302A, 0x302D},  {0x3099, 0x309A},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
constexpr Range kTwoWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26AA, 0x26AB},
    {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},
    {0x2B50, 0x2B50},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F004, 0x1F004}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320},
    {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3E0, 0x1F3F0}, {0x1F400, 0x1F43E}, {0x1F440, 0x1F4FC}, {0x1F500, 0x1F53D},
    {0x1F550, 0x1F567}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F7E0, 0x1F7EB},
    {0x1F90C, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool is_in(const Range (&ranges)[N], char32_t code) noexcept {
  const Range* const found =
      std::upper_bound(std::begin(ranges), std::end(ranges), code,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return found != std::begin(ranges) && code <= (found - 1)->second;
}

}  // namespace

int columns_of(char32_t code) noexcept {
  if (code < 0x300) {
    return 1;
  }
  return is_in(kZeroWidth, code) ? 0 : is_in(kTwoWide, code) ? 2 : 1;
}

void ScreenParser::ground(unsigned char byte, ScreenActions& actions) {
  if (more_ > 0) {
    if ((byte & 0xC0U) == 0x80U) {
      code_ = (code_ << 6U) | (byte & 0x3FU);
      if (--more_ == 0) {
        actions.print(code_ > 0x10FFFF || (code_ >= 0x80 && code_ < 0xA0) ? kReplacement : code_);
      }
      return;
    }
    more_ = 0;
    actions.print(kReplacement);
  }
  if (byte < 0x20) {
    actions.control(static_cast<char>(byte));
  } else if (byte < 0x7F) {
    actions.print(byte);
  } else if (byte >= 0xC2 && byte <= 0xF4) {
    more_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    code_ = byte & (0x3FU >> static_cast<unsigned>(more_));
  } else if (byte != 0x7F) {
    actions.print(kReplacement);
  }
}

void ScreenParser::escape(unsigned char byte, ScreenActions& actions) {
  if (byte >= 0x20 && byte < 0x30) {
    intermediate_ = static_cast<char>(byte);
    return;
  }
  state_ = State::Ground;
  if (intermediate_ == 0 && byte == '[') {
    sequence_ = {};
    state_ = State::Sequence;
  } else if (intermediate_ == 0 &&
             (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')) {
    state_ = State::String;
  } else if (byte >= 0x30 && byte < 0x7F) {
    actions.escape(intermediate_, static_cast<char>(byte));
  }
}

void ScreenParser::sequence(unsigned char byte, ScreenActions& actions) {
  ControlSequence& now = sequence_;
  if (byte < 0x20) {
    actions.control(static_cast<char>(byte));
  } else if (byte >= '0' && byte <= '9') {
    now.count = std::max<std::size_t>(now.count, 1);
    int& value = now.parameters[std::min(now.count, now.parameters.size()) - 1];
    value = std::min(std::max(value, 0) * 10 + (byte - '0'), kLargestParameter);
  } else if (byte == ';' || byte == ':') {
    now.count = std::min(std::max<std::size_t>(now.count, 1) + 1, now.parameters.size());
    now.parameters[now.count - 1] = -1;
  } else if (byte >= '<' && byte <= '?') {
    now.prefix = static_cast<char>(byte);
  } else if (byte < 0x30) {
    now.intermediate = static_cast<char>(byte);
  } else {
    state_ = State::Ground;
    if (byte >= 0x40 && byte < 0x7F) {
      now.final = static_cast<char>(byte);
      actions.sequence(now);
    }
  }
}

void ScreenParser::feed(std::string_view bytes, ScreenActions& actions) {
  for (const char raw : bytes) {
    const auto byte = static_cast<unsigned char>(raw);
    const bool string = state_ == State::String || state_ == State::StringEscape;
    if (byte == kEscape) {
      more_ = 0;
      intermediate_ = 0;
      state_ = string ? State::StringEscape : State::Escape;
    } else if (byte == kCancel || byte == kSubstitute || (byte == 0x07 && string)) {
      state_ = State::Ground;
    } else if (state_ == State::Ground) {
      ground(byte, actions);
    } else if (state_ == State::Escape || (state_ == State::StringEscape && byte != '\\')) {
      state_ = State::Escape;
      escape(byte, actions);
    } else if (state_ == State::StringEscape) {
      state_ = State::Ground;
    } else if (state_ == State::Sequence) {
      sequence(byte, actions);
    }
  }
}

}  // namespace bawn::shell
