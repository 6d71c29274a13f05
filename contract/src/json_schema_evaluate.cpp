#include "bawn/contract/canonical.hpp"
#include "bawn/contract/quote.hpp"
#include "json_schema.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace bawn::contract::detail {
namespace {

// Enough for any honest schema; a recursive one that eats no input meets the depth first.
constexpr std::size_t kMaxSteps = 500'000;
constexpr int kMaxDepth = 400;

/// What was looked at by some keyword, for unevaluatedProperties and unevaluatedItems.
struct Evaluated {
  std::set<std::string, std::less<>> members{};
  std::set<std::size_t> items{};
  bool all_members = false;
  bool all_items = false;

  void merge(const Evaluated& other) {
    members.insert(other.members.begin(), other.members.end());
    items.insert(other.items.begin(), other.items.end());
    all_members = all_members || other.all_members;
    all_items = all_items || other.all_items;
  }
};

bool is_whole(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number() && std::trunc(value.get<double>()) == value.get<double>());
}

bool has_type(const Json& value, std::string_view type) {
  switch (value.type()) {
    case Json::value_t::null:
      return type == "null";
    case Json::value_t::boolean:
      return type == "boolean";
    case Json::value_t::string:
      return type == "string";
    case Json::value_t::array:
      return type == "array";
    case Json::value_t::object:
      return type == "object";
    default:
      return type == "number" || (type == "integer" && is_whole(value));
  }
}

std::string shown(const Json& value) {
  if (value.is_structured()) {
    return value.is_array() ? "array" : "object";
  }
  const std::string text = value.is_string()
                               ? quote(value.get_ref<const std::string&>().substr(0, 64))
                               : dump_json(value);
  return text;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<std::size_t>(1, next_code_point(text).size));
    ++count;
  }
  return count;
}

// Every number that Json holds, exactly: 64-bit integers of both kinds and doubles. Json's own
// comparison turns an unsigned integer into a signed one.
static_assert(std::numeric_limits<long double>::digits >= 64,
              "needs the digits of a 64-bit integer");
long double exactly(const Json& value) {
  if (value.is_number_unsigned()) {
    return static_cast<long double>(value.get<std::uint64_t>());
  }
  return value.is_number_integer() ? static_cast<long double>(value.get<std::int64_t>())
                                   : static_cast<long double>(value.get<double>());
}

bool is_multiple(const Json& value, const Json& factor) {
  const long double number = exactly(value);
  const long double divisor = exactly(factor);
  if (std::fmod(number, divisor) == 0) {
    return true;
  }
  if (is_whole(factor)) {
    return false;
  }
  // 0.3 is a multiple of 0.1 to whoever wrote them, though not as doubles.
  const long double quotient = number / divisor;
  const long double nearest = std::round(quotient);
  constexpr long double kRounding = 4 * std::numeric_limits<double>::epsilon();
  return nearest != 0 && std::abs(quotient - nearest) <= kRounding * std::abs(quotient);
}

// What it costs to compare a value with another one, in steps. Members are found one by one.
std::size_t weight(const Json& value) {
  if (value.is_string()) {
    return 1 + value.get_ref<const std::string&>().size() / 64;
  }
  std::size_t sum = 1 + (value.is_object() ? value.size() * value.size() / 16 : 0);
  if (value.is_structured()) {
    for (const Json& item : value) {
      sum += weight(item);
    }
  }
  return sum;
}

class Evaluator {
 public:
  explicit Evaluator(const CompiledSchema& compiled)
      : draft7_(compiled.draft7), compiled_(compiled) {}

  bool check(const Json& schema, const Json& value, Evaluated& evaluated) {
    if (!spend(1) || depth_ >= kMaxDepth) {
      exhausted_ = true;
      return false;
    }
    if (schema.is_boolean()) {
      return schema.get<bool>() || problem("nothing is allowed here");
    }
    ++depth_;
    Evaluated here;
    const bool valid = check_object_schema(schema, value, here);
    --depth_;
    if (!valid || !spend((here.members.size() + here.items.size()) / 4)) {
      return false;
    }
    evaluated.merge(here);
    return true;
  }

  Verdict verdict(bool valid) {
    return {.valid = valid && !exhausted_, .exhausted = exhausted_, .problem = problem_};
  }

 private:
  // Counts work that one look at a schema can multiply; false when there was too much of it.
  bool spend(std::size_t steps) {
    steps_ += steps;
    exhausted_ = exhausted_ || steps_ > kMaxSteps;
    return !exhausted_;
  }

  // The names are looked up in the object one by one.
  bool spend_lookups(std::size_t names, const Json& object) {
    return spend(names * object.size() / 16);
  }

  bool check_object_schema(const Json& schema, const Json& value, Evaluated& here) {
    const auto target = compiled_.targets.find(&schema);
    if (target != compiled_.targets.end()) {
      if (!check(*target->second, value, here)) {
        return false;
      }
      if (draft7_) {
        return true;  // siblings of $ref are ignored there
      }
    }
    return check_generic(schema, value) && check_number(schema, value) &&
           check_string(schema, value) && check_combined(schema, value, here) &&
           check_conditional(schema, value, here) && check_array(schema, value, here) &&
           check_object(schema, value, here);
  }

  static const Json* word(const Json& schema, std::string_view keyword) {
    const auto found = schema.find(keyword);
    return found == schema.end() ? nullptr : &*found;
  }

  bool check_generic(const Json& schema, const Json& value) {
    if (const Json* type = word(schema, "type")) {
      const bool listed =
          type->is_array() && std::any_of(type->begin(), type->end(), [&](const Json& item) {
            return has_type(value, item.get_ref<const std::string&>());
          });
      const bool single = type->is_string() && has_type(value, type->get_ref<const std::string&>());
      if (!listed && !single) {
        const std::string wanted = type->is_string() ? type->get<std::string>() : dump_json(*type);
        return problem(fmt::format("expected {}, got {}", wanted, shown(value)));
      }
    }
    if (const Json* choices = word(schema, "enum")) {
      if (!spend(choices->size() / 16 + (value.is_structured() ? weight(*choices) : 0))) {
        return false;
      }
      if (std::none_of(choices->begin(), choices->end(),
                       [&](const Json& choice) { return json_equal(choice, value); })) {
        return problem(fmt::format("expected one of {}, got {}", dump_json(*choices).substr(0, 256),
                                   shown(value)));
      }
    }
    const Json* constant = word(schema, "const");
    if (constant != nullptr && !spend(weight(*constant))) {
      return false;
    }
    return constant == nullptr || json_equal(*constant, value) ||
           problem(fmt::format("expected {}, got {}", shown(*constant), shown(value)));
  }

  bool check_number(const Json& schema, const Json& value) {
    if (!value.is_number()) {
      return true;
    }
    const auto bounded = [&](std::string_view keyword, std::string_view text, auto fits) {
      const Json* bound = word(schema, keyword);
      return bound == nullptr || fits(value, *bound) ||
             problem(fmt::format("expected {} {}, got {}", text, shown(*bound), shown(value)));
    };
    using J = const Json&;
    return bounded("minimum", "at least", [](J v, J b) { return exactly(v) >= exactly(b); }) &&
           bounded("maximum", "at most", [](J v, J b) { return exactly(v) <= exactly(b); }) &&
           bounded("exclusiveMinimum", "more than",
                   [](J v, J b) { return exactly(v) > exactly(b); }) &&
           bounded("exclusiveMaximum", "less than",
                   [](J v, J b) { return exactly(v) < exactly(b); }) &&
           bounded("multipleOf", "a multiple of", is_multiple);
  }

  // `keyword` bounds `size` from one side; `unit` is the word for what is counted.
  bool check_size(const Json& schema, std::string_view least, std::string_view most,
                  std::size_t size, std::string_view unit) {
    const auto count = static_cast<double>(size);
    if (const Json* bound = word(schema, least); bound && count < bound->get<double>()) {
      return problem(fmt::format("expected at least {} {}, got {}", dump_json(*bound), unit, size));
    }
    if (const Json* bound = word(schema, most); bound && count > bound->get<double>()) {
      return problem(fmt::format("expected at most {} {}, got {}", dump_json(*bound), unit, size));
    }
    return true;
  }

  bool check_string(const Json& schema, const Json& value) {
    if (!value.is_string()) {
      return true;
    }
    const auto& text = value.get_ref<const std::string&>();
    const bool bounded =
        word(schema, "minLength") != nullptr || word(schema, "maxLength") != nullptr;
    if (bounded &&
        (!spend(text.size() / 64) ||
         !check_size(schema, "minLength", "maxLength", count_code_points(text), "characters"))) {
      return false;
    }
    if (const Json* pattern = word(schema, "pattern")) {
      const auto& source = pattern->get_ref<const std::string&>();
      if (!spend(text.size() / 16) || !matches(source, text)) {
        return problem(fmt::format("does not match the pattern {}", quote(source.substr(0, 128))));
      }
    }
    const Json* format = word(schema, "format");
    // A pattern of a few bytes can take a long time to compile.
    if (format != nullptr && !spend(*format == "regex" ? kMaxSteps / 25 : text.size() / 16)) {
      return false;
    }
    return format == nullptr || has_format(format->get_ref<const std::string&>(), text) ||
           problem(fmt::format("expected the format {}, got {}", shown(*format), shown(value)));
  }

  bool matches(const std::string& pattern, const std::string& text) const {
    return re2::RE2::PartialMatch(text, *compiled_.patterns.find(pattern)->second);
  }

  // Checks without reporting a problem.
  bool holds(const Json& schema, const Json& value, Evaluated& evaluated) {
    ++quiet_;
    const bool valid = check(schema, value, evaluated);
    --quiet_;
    return valid && !exhausted_;
  }

  bool check_combined(const Json& schema, const Json& value, Evaluated& here) {
    if (const Json* all = word(schema, "allOf")) {
      for (const Json& part : *all) {
        if (!check(part, value, here)) {
          return false;
        }
      }
    }
    if (const Json* any = word(schema, "anyOf")) {
      const auto matching = std::count_if(
          any->begin(), any->end(), [&](const Json& part) { return holds(part, value, here); });
      if (matching == 0) {
        return problem(fmt::format("{} fits none of the alternatives", shown(value)));
      }
    }
    if (const Json* one = word(schema, "oneOf")) {
      const auto matching = std::count_if(
          one->begin(), one->end(), [&](const Json& part) { return holds(part, value, here); });
      if (matching != 1) {
        return problem(
            fmt::format("{} fits {} of the alternatives, not exactly one", shown(value), matching));
      }
    }
    Evaluated unused;
    const Json* negated = word(schema, "not");
    return negated == nullptr || (!holds(*negated, value, unused) && !exhausted_) ||
           problem(fmt::format("{} is what is not allowed", shown(value)));
  }

  bool check_conditional(const Json& schema, const Json& value, Evaluated& here) {
    const Json* condition = word(schema, "if");
    if (condition == nullptr) {
      return true;
    }
    const bool met = holds(*condition, value, here);
    const Json* branch = word(schema, met ? "then" : "else");
    return !exhausted_ && (branch == nullptr || check(*branch, value, here));
  }

  bool check_item(const Json& schema, const Json& array, std::size_t index, Evaluated& here) {
    Evaluated inner;
    here.items.insert(index);
    return in_step(fmt::format("[{}]", index), [&] { return check(schema, array[index], inner); });
  }

  bool check_array(const Json& schema, const Json& value, Evaluated& here) {
    if (!value.is_array()) {
      return true;
    }
    if (!check_size(schema, "minItems", "maxItems", value.size(), "items")) {
      return false;
    }
    const Json* unique = word(schema, "uniqueItems");
    if (unique != nullptr && unique->get<bool>() && !all_different(value)) {
      return problem("the items are not all different");
    }
    return check_items(schema, value, here) && check_contains(schema, value, here) &&
           check_unevaluated_items(schema, value, here);
  }

  bool check_items(const Json& schema, const Json& value, Evaluated& here) {
    const Json* items = word(schema, "items");
    const bool tuple = draft7_ && items != nullptr && items->is_array();
    const Json* prefix = tuple ? items : (draft7_ ? nullptr : word(schema, "prefixItems"));
    const Json* rest = tuple ? word(schema, "additionalItems") : items;
    const std::size_t fixed = prefix != nullptr ? std::min(prefix->size(), value.size()) : 0;
    for (std::size_t i = 0; i < fixed; ++i) {
      if (!check_item((*prefix)[i], value, i, here)) {
        return false;
      }
    }
    for (std::size_t i = fixed; rest != nullptr && i < value.size(); ++i) {
      if (!check_item(*rest, value, i, here)) {
        return false;
      }
    }
    here.all_items = here.all_items || rest != nullptr;
    return true;
  }

  bool check_contains(const Json& schema, const Json& value, Evaluated& here) {
    const Json* wanted = word(schema, "contains");
    if (wanted == nullptr) {
      return true;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Evaluated inner;
      if (holds(*wanted, value[i], inner)) {
        here.items.insert(i);
        ++count;
      }
    }
    const Json* least = draft7_ ? nullptr : word(schema, "minContains");
    const Json* most = draft7_ ? nullptr : word(schema, "maxContains");
    const double minimum = least != nullptr ? least->get<double>() : 1;
    const auto found = static_cast<double>(count);
    const bool fits = found >= minimum && (most == nullptr || found <= most->get<double>());
    return fits || problem(fmt::format("{} items fit what the array must contain", count));
  }

  bool check_unevaluated_items(const Json& schema, const Json& value, Evaluated& here) {
    const Json* rest = draft7_ ? nullptr : word(schema, "unevaluatedItems");
    if (rest == nullptr || here.all_items) {
      return true;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!here.items.contains(i) && !check_item(*rest, value, i, here)) {
        return false;
      }
    }
    here.all_items = true;
    return true;
  }

  bool all_different(const Json& array) {
    // By canonical text first: comparing every pair of a long hostile array takes too long.
    std::multimap<std::string, const Json*> seen;
    for (const Json& item : array) {
      const auto text = canonical_json(item);
      if (!spend(1 + text.value_or(std::string()).size() / 8)) {
        return false;
      }
      const auto [first, last] = seen.equal_range(text.value_or(std::string()));
      if (std::any_of(first, last, [&](const auto& e) { return json_equal(*e.second, item); })) {
        return false;
      }
      seen.emplace(text.value_or(std::string()), &item);
    }
    return true;
  }

  bool check_member(const Json& schema, const std::string& name, const Json& value,
                    Evaluated& here) {
    Evaluated inner;
    here.members.insert(name);
    const std::string step = (path_.empty() ? "" : ".") + plain_or_quoted(name.substr(0, 128));
    return in_step(step, [&] { return check(schema, value, inner); });
  }

  bool check_object(const Json& schema, const Json& value, Evaluated& here) {
    if (!value.is_object()) {
      return true;
    }
    return check_size(schema, "minProperties", "maxProperties", value.size(), "properties") &&
           check_required(word(schema, "required"), value, "") &&
           check_dependencies(schema, value, here) && check_names(schema, value) &&
           check_members(schema, value, here) && check_unevaluated_members(schema, value, here);
  }

  bool check_required(const Json* names, const Json& value, const std::string& because) {
    if (names != nullptr) {
      if (!spend_lookups(names->size(), value)) {
        return false;
      }
      for (const Json& name : *names) {
        if (!value.contains(name.get_ref<const std::string&>())) {
          return problem(fmt::format("missing required property {}{}", shown(name), because));
        }
      }
    }
    return true;
  }

  bool check_dependencies(const Json& schema, const Json& value, Evaluated& here) {
    for (const std::string_view keyword :
         {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const Json* map = word(schema, keyword);
      if (map == nullptr || draft7_ != (keyword == "dependencies")) {
        continue;
      }
      if (!spend_lookups(map->size(), value)) {
        return false;
      }
      for (auto it = map->begin(); it != map->end(); ++it) {
        if (!value.contains(it.key())) {
          continue;
        }
        const std::string because = fmt::format(" beside {}", quote(it.key()));
        if (it.value().is_array() ? !check_required(&it.value(), value, because)
                                  : !check(it.value(), value, here)) {
          return false;
        }
      }
    }
    return true;
  }

  bool check_names(const Json& schema, const Json& value) {
    const Json* rule = word(schema, "propertyNames");
    if (rule == nullptr) {
      return true;
    }
    for (auto it = value.begin(); it != value.end(); ++it) {
      Evaluated unused;
      if (!holds(*rule, Json(it.key()), unused)) {
        return problem(
            fmt::format("the property name {} is not allowed", quote(it.key().substr(0, 128))));
      }
    }
    return true;
  }

  bool check_members(const Json& schema, const Json& value, Evaluated& here) {
    const Json* properties = word(schema, "properties");
    const Json* by_pattern = word(schema, "patternProperties");
    const Json* additional = word(schema, "additionalProperties");
    if ((properties != nullptr && !spend_lookups(properties->size(), value)) ||
        (by_pattern != nullptr && !spend(by_pattern->size() * value.size() / 4))) {
      return false;
    }
    for (auto it = value.begin(); it != value.end(); ++it) {
      bool known = false;
      if (properties != nullptr && properties->contains(it.key())) {
        known = true;
        if (!check_member(properties->at(it.key()), it.key(), it.value(), here)) {
          return false;
        }
      }
      for (auto rule = by_pattern != nullptr ? by_pattern->begin() : Json::const_iterator();
           by_pattern != nullptr && rule != by_pattern->end(); ++rule) {
        if (matches(rule.key(), it.key())) {
          known = true;
          if (!check_member(rule.value(), it.key(), it.value(), here)) {
            return false;
          }
        }
      }
      if (!known && additional != nullptr && !check_unknown(*additional, it, here)) {
        return false;
      }
    }
    here.all_members = here.all_members || additional != nullptr;
    return true;
  }

  bool check_unknown(const Json& rule, Json::const_iterator member, Evaluated& here) {
    if (rule == false) {
      return problem(fmt::format("unexpected property {}", quote(member.key().substr(0, 128))));
    }
    return check_member(rule, member.key(), member.value(), here);
  }

  bool check_unevaluated_members(const Json& schema, const Json& value, Evaluated& here) {
    const Json* rest = draft7_ ? nullptr : word(schema, "unevaluatedProperties");
    if (rest == nullptr || here.all_members) {
      return true;
    }
    for (auto it = value.begin(); it != value.end(); ++it) {
      if (!here.members.contains(it.key()) && !check_unknown(*rest, it, here)) {
        return false;
      }
    }
    here.all_members = true;
    return true;
  }

  template <class Body>
  bool in_step(const std::string& step, const Body& body) {
    const std::size_t length = path_.size();
    path_ += step;
    const bool valid = body();
    path_.resize(length);
    return valid;
  }

  // Keeps the first problem that is not inside an alternative. Returns false.
  bool problem(const std::string& text) {
    if (quiet_ == 0 && problem_.empty()) {
      problem_ = path_.empty() ? text : path_ + ": " + text;
    }
    return false;
  }

  bool draft7_;
  const CompiledSchema& compiled_;
  std::string path_;
  std::string problem_;
  int quiet_ = 0;
  std::size_t steps_ = 0;
  int depth_ = 0;
  bool exhausted_ = false;
};

}  // namespace

bool json_equal(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) {
    return exactly(left) == exactly(right);
  }
  if (left.type() != right.type() || left.size() != right.size()) {
    return false;
  }
  if (left.is_array()) {
    return std::equal(left.begin(), left.end(), right.begin(), json_equal);
  }
  if (!left.is_object()) {
    return left == right;
  }
  for (auto it = left.begin(); it != left.end(); ++it) {
    const auto other = right.find(it.key());
    if (other == right.end() || !json_equal(it.value(), *other)) {
      return false;
    }
  }
  return true;
}

Verdict evaluate(const CompiledSchema& schema, const Json& value) {
  Evaluator evaluator(schema);
  Evaluated evaluated;
  const bool valid = evaluator.check(schema.root, value, evaluated);
  return evaluator.verdict(valid);
}

}  // namespace bawn::contract::detail
