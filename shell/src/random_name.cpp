#include "random_name.hpp"

#include <sys/random.h>

#include <array>
#include <string_view>

namespace bawn::shell {

namespace {
// No digits: a text can give our variables the integer attribute, and bash, which then evaluates
// what is assigned, leaves the sourced file at "1x" (no number) where it takes "ax" for an unset
// name.
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
}  // namespace

std::string random_name(std::size_t length) {
  std::string name;
  name.reserve(length);
  std::array<unsigned char, 64> bytes{};
  while (name.size() < length) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    for (ssize_t i = 0; i < got && name.size() < length; ++i) {
      // Six bits, and the values without a letter are drawn again, so that none is likelier.
      const std::size_t six = bytes[static_cast<std::size_t>(i)] & 0x3FU;
      if (six < kLetters.size()) {
        name += kLetters[six];
      }
    }
  }
  return name;
}

}  // namespace bawn::shell
