#include "sampler.hpp"

#include <algorithm>
#include <cmath>

namespace bawn::bench {
namespace {

constexpr int kWarmUpRounds = 2;

double microseconds(Nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

double Row::quantile(double q) const {
  if (samples.empty()) {
    return 0;
  }
  // Nearest rank: a value that was really measured, also for few samples.
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(samples.size())));
  return samples[std::clamp<std::size_t>(rank, 1, samples.size()) - 1];
}

std::vector<Row> measure(const std::string& group, const std::vector<Case>& cases, int rounds) {
  std::vector<Row> rows;
  for (const Case& one : cases) {
    rows.push_back({.group = group,
                    .name = one.name,
                    .floor = one.floor,
                    .target = one.target,
                    .allowance = microseconds(one.allowance),
                    .peer = one.peer});
  }
  for (int round = -kWarmUpRounds; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (!rows[i].failure.empty() || (round > 0 && round % cases[i].every != 0)) {
        continue;
      }
      const auto took = cases[i].once();
      if (!took) {
        rows[i].failure = took.error().message();
      } else if (round >= 0) {
        rows[i].samples.push_back(microseconds(*took));
      }
    }
  }
  for (Row& row : rows) {
    std::ranges::sort(row.samples);
  }
  return rows;
}

void compare(std::vector<Row>& rows) {
  for (Row& row : rows) {
    const auto floor = std::ranges::find_if(rows, [&](const Row& other) {
      return other.group == row.group && other.name == row.floor && !other.samples.empty();
    });
    if (!row.floor.empty() && floor != rows.end() && row.failure.empty() && !row.samples.empty()) {
      row.floor_median = floor->quantile(0.5);
      row.ratio = row.quantile(0.5) / row.floor_median;
    }
  }
}

}  // namespace bawn::bench
