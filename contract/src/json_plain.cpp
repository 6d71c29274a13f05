#include "bawn/contract/json_plain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace bawn::contract {
namespace {

// GCC's vectors: every target has them, some as the loops that they stand for.
using Block = signed char __attribute__((vector_size(16)));

constexpr bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// How many of the sixteen bytes are plain before the first that is not.
std::size_t plain_in_block(const char* at) noexcept {
  Block block;
  std::memcpy(&block, at, sizeof block);
  // As signed numbers, the bytes of longer characters are below the space as well.
  const Block special = (block < 0x20) | (block == '"') | (block == '\\');
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &special, sizeof special);
  if ((halves[0] | halves[1]) == 0) {
    return sizeof block;
  }
  if constexpr (std::endian::native == std::endian::little) {
    const std::size_t skipped = halves[0] != 0 ? 0 : sizeof halves[0];
    const std::uint64_t half = halves[0] != 0 ? halves[0] : halves[1];
    return skipped + static_cast<std::size_t>(std::countr_zero(half)) / 8;
  }
  std::size_t length = 0;
  while (is_plain(at[length])) {
    ++length;
  }
  return length;
}

}  // namespace

std::size_t plain_json_length(std::string_view text) noexcept {
  std::size_t length = 0;
  while (length + sizeof(Block) <= text.size()) {
    const std::size_t plain = plain_in_block(text.data() + length);
    length += plain;
    if (plain != sizeof(Block)) {
      return length;
    }
  }
  while (length < text.size() && is_plain(text[length])) {
    ++length;
  }
  return length;
}

std::size_t json_string_size(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    at += plain_json_length(text.substr(at));
    if (at >= text.size() || text[at] == '"') {
      break;
    }
    at += text[at] == '\\' ? 2U : 1U;
  }
  return std::min(at, text.size());
}

}  // namespace bawn::contract
