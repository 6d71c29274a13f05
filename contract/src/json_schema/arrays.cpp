// minItems, maxItems, uniqueItems; items in both dialects; contains; unevaluatedItems.

#include "bawn/contract/canonical.hpp"
#include "json_schema/evaluation.hpp"
#include "json_schema/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bawn::contract::detail {
namespace {

bool check_item(Evaluation& run, const Json& schema, const Json& array, std::size_t index,
                Evaluated& here) {
  return run.check_part({.index = index}, schema, array[index], here);
}

// By canonical text first: comparing every pair of a long hostile array takes too long.
bool all_different(Evaluation& run, const Json& array) {
  std::multimap<std::string, const Json*> seen;
  for (const Json& item : array) {
    std::string text = canonical_json(item).value_or(std::string());
    if (!run.spend(1 + text.size() / 8)) {
      return false;
    }
    const auto [first, last] = seen.equal_range(text);
    if (std::any_of(first, last, [&](const auto& e) { return json_equal(*e.second, item); })) {
      return false;
    }
    seen.emplace(std::move(text), &item);
  }
  return true;
}

bool check_items(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const Json* const items = keyword(schema, "items");
  const bool tuple = run.draft7() && items != nullptr && items->is_array();
  const Json* const prefix =
      tuple ? items : (run.draft7() ? nullptr : keyword(schema, "prefixItems"));
  const Json* const rest = tuple ? keyword(schema, "additionalItems") : items;
  const std::size_t fixed = prefix != nullptr ? std::min(prefix->size(), value.size()) : 0;
  for (std::size_t i = 0; i < fixed; ++i) {
    if (!check_item(run, (*prefix)[i], value, i, here)) {
      return false;
    }
  }
  for (std::size_t i = fixed; rest != nullptr && i < value.size(); ++i) {
    if (!check_item(run, *rest, value, i, here)) {
      return false;
    }
  }
  here.all_items = here.all_items || rest != nullptr;
  return true;
}

bool check_contains(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const Json* const wanted = keyword(schema, "contains");
  if (wanted == nullptr) {
    return true;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    Evaluated inner;
    if (run.holds(*wanted, value[i], inner)) {
      run.note({.index = i}, here);
      ++count;
    }
  }
  constexpr Noun kUnit = {"item that fits \"contains\"", "items that fit \"contains\""};
  const bool counts = !run.draft7();
  if (count == 0 && (!counts || keyword(schema, "minContains") == nullptr)) {
    return run.problem(fmt::format("expected at least {}, got 0", counted(1, kUnit)));
  }
  return !counts || check_size(run, schema, "minContains", "maxContains", count, kUnit);
}

bool check_unevaluated(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const Json* const rest = run.draft7() ? nullptr : keyword(schema, "unevaluatedItems");
  if (rest == nullptr || here.all_items) {
    return true;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!here.items.contains(i) && !check_item(run, *rest, value, i, here)) {
      return false;
    }
  }
  here.all_items = true;
  return true;
}

}  // namespace

bool check_array(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  if (!value.is_array()) {
    return true;
  }
  if (!check_size(run, schema, "minItems", "maxItems", value.size(), {"item", "items"})) {
    return false;
  }
  const Json* const unique = keyword(schema, "uniqueItems");
  if (unique != nullptr && unique->get<bool>() && !all_different(run, value)) {
    return run.problem("the items are not all different");
  }
  return check_items(run, schema, value, here) && check_contains(run, schema, value, here) &&
         check_unevaluated(run, schema, value, here);
}

}  // namespace bawn::contract::detail
