#include "nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace bawn::sandbox {
namespace {

/// Levenshtein's distance, one row at a time.
std::size_t edits_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replace = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[to.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  // A hostile word may be long; no known one is near it then.
  constexpr std::size_t kLongestWord = 64;
  if (known.empty() || word.size() > kLongestWord) {
    return {};
  }
  const auto distance = [&](const std::string& candidate) {
    return edits_between(word, candidate);
  };
  const std::string& nearest = *std::ranges::min_element(known, {}, distance);
  const std::size_t allowed = std::max<std::size_t>(2, nearest.size() / 3);
  return distance(nearest) <= allowed ? fmt::format("; did you mean \"{}\"?", nearest) : "";
}

}  // namespace bawn::sandbox
