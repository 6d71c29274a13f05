// minProperties, maxProperties, required; what a member demands of others; propertyNames;
// properties, patternProperties, additionalProperties and unevaluatedProperties.

#include "bawn/contract/quote.hpp"
#include "json_schema/evaluation.hpp"
#include "json_schema/value.hpp"

#include <fmt/format.h>

namespace bawn::contract::detail {
namespace {

std::string quoted_name(std::string_view name) {
  return quote(text_start(name, 128));
}

bool check_required(Evaluation& run, const Json& names, const Json& value,
                    const std::string& because) {
  if (!run.spend_lookups(names.size(), value)) {
    return false;
  }
  for (const Json& name : names) {
    if (!value.contains(name.get_ref<const std::string&>())) {
      return run.problem(fmt::format("missing required property {}{}", shown(name), because));
    }
  }
  return true;
}

// dependentRequired and dependentSchemas, which draft-07 has as one.
bool check_dependencies(Evaluation& run, const Json& map, const Json& value, Evaluated& here) {
  if (!run.spend_lookups(map.size(), value)) {
    return false;
  }
  for (const auto& [name, demand] : map.items()) {
    if (!value.contains(name)) {
      continue;
    }
    if (demand.is_array() ? !check_required(run, demand, value, " beside " + quoted_name(name))
                          : !run.check(demand, value, here)) {
      return false;
    }
  }
  return true;
}

bool check_all_dependencies(Evaluation& run, const Json& schema, const Json& value,
                            Evaluated& here) {
  for (const std::string_view name : {"dependentRequired", "dependentSchemas", "dependencies"}) {
    const Json* const map = keyword(schema, name);
    const bool known = run.draft7() == (name == "dependencies");
    if (map != nullptr && known && !check_dependencies(run, *map, value, here)) {
      return false;
    }
  }
  return true;
}

bool check_names(Evaluation& run, const Json& schema, const Json& value) {
  const Json* const rule = keyword(schema, "propertyNames");
  if (rule == nullptr) {
    return true;
  }
  for (const auto& [name, member] : value.items()) {
    Evaluated unused;
    if (!run.holds(*rule, Json(name), unused)) {
      return run.problem(fmt::format("the property name {} is not allowed", quoted_name(name)));
    }
  }
  return true;
}

bool check_unknown(Evaluation& run, const Json& rule, const std::string& name, const Json& member,
                   Evaluated& here) {
  if (rule == false) {
    return run.problem("unexpected property " + quoted_name(name));
  }
  return run.check_part({.name = &name}, rule, member, here);
}

/// The three keywords that say what members may be; null where the schema has none.
struct MemberRules {
  const Json* properties;
  const Json* by_pattern;
  const Json* additional;
};

bool check_one_member(Evaluation& run, const MemberRules& rules, const std::string& name,
                      const Json& member, Evaluated& here) {
  const Json* const own = rules.properties != nullptr ? keyword(*rules.properties, name) : nullptr;
  bool known = own != nullptr;
  if (known && !run.check_part({.name = &name}, *own, member, here)) {
    return false;
  }
  if (rules.by_pattern != nullptr) {
    for (const auto& [pattern, rule] : rules.by_pattern->items()) {
      if (run.matches(pattern, name)) {
        known = true;
        if (!run.check_part({.name = &name}, rule, member, here)) {
          return false;
        }
      }
    }
  }
  return known || rules.additional == nullptr ||
         check_unknown(run, *rules.additional, name, member, here);
}

bool check_members(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const MemberRules rules = {.properties = keyword(schema, "properties"),
                             .by_pattern = keyword(schema, "patternProperties"),
                             .additional = keyword(schema, "additionalProperties")};
  if ((rules.properties != nullptr && !run.spend_lookups(rules.properties->size(), value)) ||
      (rules.by_pattern != nullptr && !run.spend(rules.by_pattern->size() * value.size() / 4))) {
    return false;
  }
  for (const auto& [name, member] : value.items()) {
    if (!check_one_member(run, rules, name, member, here)) {
      return false;
    }
  }
  here.all_members = here.all_members || rules.additional != nullptr;
  return true;
}

bool check_unevaluated(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  const Json* const rest = run.draft7() ? nullptr : keyword(schema, "unevaluatedProperties");
  if (rest == nullptr || here.all_members) {
    return true;
  }
  for (const auto& [name, member] : value.items()) {
    if (!here.members.contains(name) && !check_unknown(run, *rest, name, member, here)) {
      return false;
    }
  }
  here.all_members = true;
  return true;
}

}  // namespace

bool check_object(Evaluation& run, const Json& schema, const Json& value, Evaluated& here) {
  if (!value.is_object()) {
    return true;
  }
  const Json* const required = keyword(schema, "required");
  constexpr Noun kUnit = {"property", "properties"};
  return check_size(run, schema, "minProperties", "maxProperties", value.size(), kUnit) &&
         (required == nullptr || check_required(run, *required, value, "")) &&
         check_all_dependencies(run, schema, value, here) && check_names(run, schema, value) &&
         check_members(run, schema, value, here) && check_unevaluated(run, schema, value, here);
}

}  // namespace bawn::contract::detail
