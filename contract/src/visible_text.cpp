#include "bawn/contract/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bawn::contract {
namespace {

constexpr unsigned char kDelete = 0x7f;
constexpr unsigned char kC1Lead = 0xc2;  // U+0080 to U+009F are C2 80 to C2 9F
constexpr unsigned char kC1Last = 0x9f;
constexpr unsigned char kTurnLead = 0xe2;  // U+202A to U+202E are E2 80 AA to E2 80 AE

/// Larger bytes begin harmless characters; of these lead bytes only the next ones tell.
bool is_visible_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= ' ' ? byte != kDelete && byte != kC1Lead && byte != kTurnLead
                     : c == '\t' || c == '\n' || c == '\r';
}

/// The code point of a turn of direction that the text begins with; 0 when it does not.
unsigned int turn_in(std::string_view text) noexcept {
  if (text.size() < 3) {
    return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const auto third = static_cast<unsigned char>(text[2]);
  const bool turns = (second == 0x80 && third >= 0xaa && third <= 0xae) ||
                     (second == 0x81 && third >= 0xa6 && third <= 0xa9);
  return turns ? 0x2000U + ((second - 0x80U) << 6U) + (third - 0x80U) : 0;
}

/// Writes what `text` begins with, a byte that is_visible_byte() refuses; how many bytes that was.
std::size_t append_visible(std::string& visible, std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  const auto next = static_cast<unsigned char>(text.size() > 1 ? text[1] : '\0');
  if (byte == kC1Lead && next >= 0x80 && next <= kC1Last) {
    visible += fmt::format("\\x{:02x}", next);
    return 2;
  }
  if (const unsigned int turn = byte == kTurnLead ? turn_in(text) : 0; turn != 0) {
    visible += fmt::format("\\u{:04x}", turn);
    return 3;
  }
  if (byte == kC1Lead || byte == kTurnLead) {
    visible += text[0];
  } else {
    visible += fmt::format("\\x{:02x}", byte);
  }
  return 1;
}

}  // namespace

bool is_visible(std::string_view text) noexcept {
  using Block = unsigned char __attribute__((vector_size(16)));
  Block bad = {};
  std::size_t at = 0;
  for (; at + sizeof(Block) <= text.size(); at += sizeof(Block)) {
    Block block;
    std::memcpy(&block, text.data() + at, sizeof block);
    const auto control = (block < ' ') & (block != '\t') & (block != '\n') & (block != '\r');
    bad |= reinterpret_cast<Block>(control | (block == kDelete) | (block == kC1Lead) |
                                   (block == kTurnLead));
  }
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &bad, sizeof bad);
  return (halves[0] | halves[1]) == 0 && std::ranges::all_of(text.substr(at), is_visible_byte);
}

std::string visible_text(std::string_view text) {
  if (is_visible(text)) {
    return std::string(text);
  }
  std::string visible;
  visible.reserve(text.size());
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_visible_byte) - text.begin());
    visible += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) {
      text.remove_prefix(append_visible(visible, text));
    }
  }
  return visible;
}

}  // namespace bawn::contract
