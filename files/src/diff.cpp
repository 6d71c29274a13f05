#include "diff.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>

namespace bawn::files {

namespace {

/// Myers' steps for one region, and the larger region that gets any at all.
constexpr std::size_t kMaxDistance = 400;
constexpr std::size_t kMaxWork = 20'000'000;

using Ids = std::vector<std::uint32_t>;

/// Gives equal lines one number. A table of its own: a node for each line, as std::unordered_map
/// has them, takes twice the time.
class LineNames {
 public:
  explicit LineNames(std::size_t lines)
      : slots_(std::bit_ceil(2 * lines + 1), 0), steps_left_(kStepsEach * (lines + 1)) {
    names_.reserve(lines);
  }

  /// None when lines were chosen so that they collide.
  std::optional<std::uint32_t> number_of(std::string_view line) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = std::hash<std::string_view>()(line) & mask; steps_left_ > 0;
         at = (at + 1) & mask, --steps_left_) {
      std::uint32_t& slot = slots_[at];
      if (slot == 0) {
        names_.push_back(line);
        slot = static_cast<std::uint32_t>(names_.size());
      }
      if (names_[slot - 1] == line) {
        return slot - 1;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  static constexpr std::size_t kStepsEach = 64;

  std::vector<std::uint32_t> slots_;  ///< 0: free, else the place in names_, from 1
  std::vector<std::string_view> names_;
  std::size_t steps_left_;
};

struct Region {
  std::size_t old_begin = 0;
  std::size_t old_end = 0;
  std::size_t new_begin = 0;
  std::size_t new_end = 0;
};

class Differ {
 public:
  Differ(Ids before, Ids after, std::size_t names)
      : before_(std::move(before)), after_(std::move(after)), names_(names) {}

  std::vector<Change> run() {
    solve({0, before_.size(), 0, after_.size()}, true);
    return std::move(changes_);
  }

 private:
  void solve(Region region, bool may_anchor) {
    trim(region);
    if (region.old_begin == region.old_end || region.new_begin == region.new_end) {
      emit(region);
      return;
    }
    if (!myers(region) && !(may_anchor && anchored(region))) {
      emit(region);
    }
  }

  void trim(Region& region) const {
    while (region.old_begin < region.old_end && region.new_begin < region.new_end &&
           before_[region.old_begin] == after_[region.new_begin]) {
      ++region.old_begin;
      ++region.new_begin;
    }
    while (region.old_begin < region.old_end && region.new_begin < region.new_end &&
           before_[region.old_end - 1] == after_[region.new_end - 1]) {
      --region.old_end;
      --region.new_end;
    }
  }

  void emit(const Region& region) {
    const std::size_t old_count = region.old_end - region.old_begin;
    const std::size_t new_count = region.new_end - region.new_begin;
    if (old_count == 0 && new_count == 0) {
      return;
    }
    if (!changes_.empty()) {
      Change& last = changes_.back();
      if (last.old_first + last.old_count == region.old_begin &&
          last.new_first + last.new_count == region.new_begin) {
        last.old_count += old_count;
        last.new_count += new_count;
        return;
      }
    }
    changes_.push_back({region.old_begin, old_count, region.new_begin, new_count});
  }

  /// The greedy algorithm with its whole history kept; false when it would take too long.
  bool myers(const Region& region) {
    const auto n = static_cast<std::int64_t>(region.old_end - region.old_begin);
    const auto m = static_cast<std::int64_t>(region.new_end - region.new_begin);
    const auto most = static_cast<std::int64_t>(kMaxDistance);
    std::vector<std::vector<std::int64_t>> history;
    std::vector<std::int64_t> reach(2 * kMaxDistance + 3, 0);
    const auto at = [&](std::int64_t k) -> std::int64_t& {
      return reach[static_cast<std::size_t>(k + most + 1)];
    };
    for (std::int64_t d = 0; d <= most; ++d) {
      if (work_ > kMaxWork) {
        return false;
      }
      for (std::int64_t k = -d; k <= d; k += 2) {
        std::int64_t x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        const std::int64_t start = x;
        while (x < n && x - k < m && x - k >= 0 &&
               before_[region.old_begin + static_cast<std::size_t>(x)] ==
                   after_[region.new_begin + static_cast<std::size_t>(x - k)]) {
          ++x;
        }
        work_ += static_cast<std::size_t>(x - start) + 1;
        at(k) = x;
        if (x >= n && x - k >= m) {
          trace(region, history, d, k);
          return true;
        }
      }
      history.emplace_back(reach.begin() + (most + 1 - d), reach.begin() + (most + 2 + d));
    }
    return false;
  }

  /// Walks the history back and emits what it inserted and deleted, in order.
  void trace(const Region& region, const std::vector<std::vector<std::int64_t>>& history,
             std::int64_t d, std::int64_t k) {
    std::vector<Region> steps;
    for (; d > 0; --d) {
      const auto& reach = history[static_cast<std::size_t>(d - 1)];  // diagonals 1-d … d-1
      const auto before = [&](std::int64_t diagonal) {
        const std::int64_t index = diagonal + d - 1;
        return index < 0 || index >= static_cast<std::int64_t>(reach.size())
                   ? std::int64_t{-1}
                   : reach[static_cast<std::size_t>(index)];
      };
      const bool inserted = k == -d || (k != d && before(k - 1) < before(k + 1));
      const std::int64_t from = inserted ? k + 1 : k - 1;
      const std::int64_t x = before(from);
      const auto old_at = region.old_begin + static_cast<std::size_t>(x);
      const auto new_at = region.new_begin + static_cast<std::size_t>(x - from);
      steps.push_back(inserted ? Region{old_at, old_at, new_at, new_at + 1}
                               : Region{old_at, old_at + 1, new_at, new_at});
      k = from;
    }
    std::for_each(steps.rbegin(), steps.rend(), [&](const Region& step) { emit(step); });
  }

  /// Splits at lines that occur once on both sides, in their longest common order.
  bool anchored(const Region& region) {
    const auto pairs = common_order(unique_pairs(region));
    if (pairs.empty()) {
      return false;
    }
    Region next{region.old_begin, 0, region.new_begin, 0};
    for (const auto& [old_at, new_at] : pairs) {
      next.old_end = old_at;
      next.new_end = new_at;
      solve(next, false);
      next.old_begin = old_at + 1;
      next.new_begin = new_at + 1;
    }
    next.old_end = region.old_end;
    next.new_end = region.new_end;
    solve(next, false);
    return true;
  }

  using Pair = std::pair<std::size_t, std::size_t>;

  [[nodiscard]] std::vector<Pair> unique_pairs(const Region& region) const {
    constexpr std::size_t kMany = ~std::size_t{0};
    std::vector<std::size_t> old_place(names_, 0);  // 0: none, else place + 1
    std::vector<std::size_t> new_place(names_, 0);
    const auto note = [&](std::vector<std::size_t>& places, std::uint32_t id, std::size_t at) {
      places[id] = places[id] == 0 ? at + 1 : kMany;
    };
    for (std::size_t i = region.old_begin; i < region.old_end; ++i) {
      note(old_place, before_[i], i);
    }
    for (std::size_t i = region.new_begin; i < region.new_end; ++i) {
      note(new_place, after_[i], i);
    }
    std::vector<Pair> pairs;
    for (std::size_t i = region.old_begin; i < region.old_end; ++i) {
      const std::size_t there = new_place[before_[i]];
      if (old_place[before_[i]] == i + 1 && there != 0 && there != kMany) {
        pairs.emplace_back(i, there - 1);
      }
    }
    return pairs;
  }

  /// The longest increasing subsequence by the new place (patience sorting).
  static std::vector<Pair> common_order(const std::vector<Pair>& pairs) {
    std::vector<std::size_t> tails;  // index into pairs of the end of the best run of each length
    std::vector<std::size_t> previous(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto place = std::lower_bound(
          tails.begin(), tails.end(), pairs[i].second,
          [&](std::size_t tail, std::size_t at) { return pairs[tail].second < at; });
      previous[i] = place == tails.begin() ? pairs.size() : *(place - 1);
      if (place == tails.end()) {
        tails.push_back(i);
      } else {
        *place = i;
      }
    }
    std::vector<Pair> order;
    for (std::size_t i = tails.empty() ? pairs.size() : tails.back(); i != pairs.size();
         i = previous[i]) {
      order.push_back(pairs[i]);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  Ids before_;
  Ids after_;
  std::size_t names_;
  std::size_t work_ = 0;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> diff_lines(const std::vector<std::string_view>& before,
                               const std::vector<std::string_view>& after) {
  // Equal ends are most of a usual edit; without them the table of lines stays small.
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) {
    ++head;
  }
  std::size_t tail = 0;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  LineNames names(before.size() + after.size() - 2 * (head + tail));
  const auto numbers_of = [&](const std::vector<std::string_view>& lines) -> std::optional<Ids> {
    Ids numbers;
    numbers.reserve(lines.size() - head - tail);
    for (std::size_t i = head; i < lines.size() - tail; ++i) {
      const auto number = names.number_of(lines[i]);
      if (!number) {
        return std::nullopt;
      }
      numbers.push_back(*number);
    }
    return numbers;
  };
  auto old_numbers = numbers_of(before);
  auto new_numbers = old_numbers ? numbers_of(after) : std::nullopt;
  if (!new_numbers) {
    return {{head, before.size() - head - tail, head, after.size() - head - tail}};
  }
  auto changes = Differ(*std::move(old_numbers), *std::move(new_numbers), names.size()).run();
  for (Change& change : changes) {
    change.old_first += head;
    change.new_first += head;
  }
  return changes;
}

}  // namespace bawn::files
