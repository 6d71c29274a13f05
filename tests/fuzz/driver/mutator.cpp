#include "mutator.hpp"

#include <array>
#include <string_view>

namespace bawn::fuzz {
namespace {

/// What tends to matter to readers of text: structure, escapes, numbers at limits, bad UTF-8.
constexpr std::array kTokens = std::to_array<std::string_view>({"{",
                                                                "}",
                                                                "[",
                                                                "]",
                                                                "\"",
                                                                ":",
                                                                ",",
                                                                "\\",
                                                                "\\u",
                                                                "\\ud800",
                                                                "null",
                                                                "true",
                                                                "-0",
                                                                "1e999",
                                                                "1e-7",
                                                                "0.1",
                                                                "-",
                                                                "9007199254740993",
                                                                "18446744073709551616",
                                                                "\xff",
                                                                "\xed\xa0\x80",
                                                                "\xef\xbb\xbf",
                                                                "\xf0\x9f\x98\x80",
                                                                "\r\n",
                                                                "\n",
                                                                "/",
                                                                "..",
                                                                "#",
                                                                "~1",
                                                                "%00",
                                                                "=",
                                                                "a",
                                                                "0"});

}  // namespace

std::size_t Mutator::below(std::size_t bound) {
  return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound);
}

std::string Mutator::piece_of(const std::string& text) {
  const std::size_t at = below(text.size());
  return text.substr(at, 1 + below(text.size() - at));
}

void Mutator::mutate(std::string& input, const std::vector<std::string>& corpus) {
  const std::size_t at = below(input.size() + 1);
  const bool inside = at < input.size();
  switch (below(8)) {
    case 0:
      if (inside) {
        input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
      }
      break;
    case 1:
      if (inside) {
        input[at] = static_cast<char>(below(256));
      }
      break;
    case 2:
      input.insert(at, 1, static_cast<char>(below(256)));
      break;
    case 3:
      input.erase(at, 1 + below(input.size() - at));
      break;
    case 4:
      input.insert(at, kTokens[below(kTokens.size())]);
      break;
    case 5:
      input.insert(at, piece_of(corpus[below(corpus.size())]));
      break;
    case 6: {  // the same piece many times: depth and length
      const std::string piece = piece_of(input).substr(0, 16);
      for (std::size_t times = below(200); times > 0; --times) {
        input.insert(at, piece);
      }
      break;
    }
    default: {
      const std::string piece = piece_of(corpus[below(corpus.size())]);
      input.replace(at, piece.size(), piece);
      break;
    }
  }
}

std::string Mutator::next(const std::vector<std::string>& corpus) {
  std::string input = corpus[below(corpus.size())];
  for (std::size_t times = 1 + below(5); times > 0; --times) {
    mutate(input, corpus);
  }
  input.resize(std::min(input.size(), longest_));
  return input;
}

}  // namespace bawn::fuzz
