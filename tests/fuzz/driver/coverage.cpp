#include "coverage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace bawn::fuzz {
namespace {

constexpr std::size_t kPlaces = std::size_t{1} << 16;

alignas(64) std::array<std::uint8_t, kPlaces> hits;
/// One bit for each power of two that a place's count has had.
alignas(64) std::array<std::uint8_t, kPlaces> seen;

}  // namespace

void reset_coverage() noexcept {
  hits.fill(0);
}

bool take_new_coverage() noexcept {
  bool found = false;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    if (hits[i] == 0) {
      continue;
    }
    const auto bit = static_cast<std::uint8_t>(1U << (std::bit_width(hits[i]) - 1));
    if ((seen[i] & bit) == 0) {
      seen[i] = static_cast<std::uint8_t>(seen[i] | bit);
      found = true;
    }
  }
  return found;
}

std::size_t places_seen() noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(seen, [](std::uint8_t bits) { return bits != 0; }));
}

}  // namespace bawn::fuzz

/// Called by instrumented code at the start of every basic block.
extern "C" void __sanitizer_cov_trace_pc() {  // NOLINT(bugprone-reserved-identifier): GCC's name
  using namespace bawn::fuzz;
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& count = hits[(place ^ (place >> 16U)) % kPlaces];
  count = static_cast<std::uint8_t>(count + (count != 0xFF));
}
