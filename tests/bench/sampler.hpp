/// \file
/// Interleaved sampling: every round runs each case once (A B C A B C ...), so that a busy moment
/// of the machine falls on a case and on its floor alike, and only ratios are compared.
#pragma once

#include "bawn/contract/error.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bawn::bench {

using Nanoseconds = std::chrono::nanoseconds;

/// One thing to measure.
struct Case {
  std::string name{};
  /// Does it once and returns how long the measured part took; set-up and clean-up stay outside.
  std::function<contract::Result<Nanoseconds>()> once{};
  std::string floor{};  ///< name of the case of this group that it is compared with; may be empty
  std::optional<double> target{};  ///< wanted upper bound of the ratio of medians
  Nanoseconds allowance{};         ///< time on top of that bound
  bool peer = false;  ///< somebody else's program: shown beside ours, its failure is no failure
  int every = 1;      ///< takes part in each n-th round only: for slow cases
};

/// What came of one case.
struct Row {
  std::string group{};
  std::string name{};
  std::string unit = "us";
  std::string floor{};
  std::optional<double> target{};  ///< upper bound: of `ratio`, or of the median where `absolute`
  double allowance = 0;            ///< microseconds on top of what `target` allows
  bool absolute = false;
  bool peer = false;
  std::vector<double> samples{};  ///< sorted; microseconds unless `unit` says otherwise
  std::string failure{};          ///< why it was not measured; empty when it was
  std::optional<double> ratio{};  ///< median to the floor's median
  double floor_median = 0;        ///< microseconds; 0 where there is no ratio

  [[nodiscard]] double quantile(double q) const;  ///< q in 0..1; 0 when there are no samples
};

/// Runs `rounds` rounds after two unrecorded ones. A case that fails once is left out from then on
/// and its row says why.
///
/// Blocking: until all rounds are done.
[[nodiscard]] std::vector<Row> measure(const std::string& group, const std::vector<Case>& cases,
                                       int rounds);

/// Fills in each row's ratio from the row of its group named by `floor`.
void compare(std::vector<Row>& rows);

/// The time that `work` takes; the error when it has one.
template <class Work>
contract::Result<Nanoseconds> timed(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  if (contract::Result<> done = work(); !done) {
    return std::unexpected(std::move(done).error());
  }
  return std::chrono::steady_clock::now() - start;
}

}  // namespace bawn::bench
