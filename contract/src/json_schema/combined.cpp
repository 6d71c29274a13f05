// allOf, anyOf, oneOf, not, if with then and else.

#include "json_schema/evaluation.hpp"
#include "json_schema/value.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::contract::detail {
namespace {

bool check_conditional(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const Json* const condition = keyword(schema, "if");
  if (condition == nullptr) {
    return true;
  }
  const bool met = run.holds(*condition, value, here);
  const Json* const branch = keyword(schema, met ? "then" : "else");
  return !run.exhausted() && (branch == nullptr || run.check(*branch, value, here));
}

// How many of the alternatives the value fits. All are tried: each adds to what was evaluated.
std::ptrdiff_t count_fitting(Evaluation& run, const Json& alternatives, const Json& value,
                             Evaluated& here) {
  return std::count_if(alternatives.begin(), alternatives.end(),
                       [&](const Json& part) { return run.holds(part, value, here); });
}

}  // namespace

bool check_combined(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const auto fits = [&](const Json& part) { return run.check(part, value, here); };
  if (const Json* all = keyword(schema, "allOf");
      all != nullptr && !std::all_of(all->begin(), all->end(), fits)) {
    return false;
  }
  if (const Json* any = keyword(schema, "anyOf");
      any != nullptr && count_fitting(run, *any, value, here) == 0) {
    return run.problem(fmt::format("{} fits none of the alternatives", shown(value)));
  }
  if (const Json* one = keyword(schema, "oneOf")) {
    if (const auto count = count_fitting(run, *one, value, here); count != 1) {
      return run.problem(
          fmt::format("{} fits {} of the alternatives, not exactly one", shown(value), count));
    }
  }
  Evaluated unused;
  const Json* const negated = keyword(schema, "not");
  if (negated != nullptr && (run.holds(*negated, value, unused) || run.exhausted())) {
    return run.problem(fmt::format("{} is what is not allowed", shown(value)));
  }
  return check_conditional(run, schema, value, here);
}

}  // namespace bawn::contract::detail
