#include "bawn/contract/validate.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bawn::contract {
namespace {

using Kind = JsonNode::Kind;

constexpr std::size_t kShownName = 128;  // bytes of a member's name in a message

constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "integer", "number",
                                                    "string", "array",   "object"};

bool has_type(const JsonNode& value, std::string_view type) {
  switch (value.kind) {
    case Kind::Null:
      return type == "null";
    case Kind::Boolean:
      return type == "boolean";
    case Kind::Number:
      return type == "number" || (type == "integer" && std::trunc(value.number) == value.number);
    case Kind::String:
      return type == "string";
    case Kind::Array:
      return type == "array";
    case Kind::Object:
      return type == "object";
  }
  return false;
}

// Numbers are equal when their doubles are, everything else when type and value are (C-46).
bool equals(const Json& choice, const JsonNode& value) {
  if (choice.is_number()) {
    return value.kind == Kind::Number && choice.get<double>() == value.number;
  }
  switch (value.kind) {
    case Kind::Null:
      return choice.is_null();
    case Kind::Boolean:
      return choice.is_boolean() && choice.get<bool>() == value.boolean;
    case Kind::String:
      return choice.is_string() && choice.get_ref<const std::string&>() == value.text;
    default:
      return false;
  }
}

bool is_choice(const std::vector<Json>& choices, const JsonNode& value) {
  return std::any_of(choices.begin(), choices.end(),
                     [&](const Json& choice) { return equals(choice, value); });
}

std::string describe_choice(const Json& choice) {
  return choice.is_string() ? quote(choice.get_ref<const std::string&>()) : dump_json(choice);
}

std::string not_a_choice(const std::vector<Json>& choices, const JsonNode& value) {
  std::string list;
  for (const Json& choice : choices) {
    list += (list.empty() ? "" : ", ") + describe_choice(choice);
  }
  return fmt::format("expected one of [{}], got {}", list, describe(value));
}

/// Walks schema and value together; the path is that of the value being looked at.
class Validator {
 public:
  Result<> check(const Schema& schema, const JsonNode& value) {
    if (value.kind == Kind::Null) {
      return check_null(schema, value);
    }
    if (schema.choices && !is_choice(*schema.choices, value)) {
      return problem(not_a_choice(*schema.choices, value));
    }
    BAWN_TRY(check_type(schema, value));
    BAWN_TRY(check_bounds(schema, value));
    if (value.kind == Kind::Object) {
      return check_object(schema, value);
    }
    return value.kind == Kind::Array ? check_items(schema, value) : Result<>();
  }

 private:
  Result<> check_null(const Schema& schema, const JsonNode& value) {
    const bool admitted = schema.nullable || schema.type.empty() || schema.type == "null";
    if (!admitted) {
      return check_type(schema, value);
    }
    if (schema.choices && !is_choice(*schema.choices, value)) {
      return problem(not_a_choice(*schema.choices, value));
    }
    return {};
  }

  Result<> check_type(const Schema& schema, const JsonNode& value) {
    if (schema.type.empty()) {
      return {};
    }
    if (std::find(kTypes.begin(), kTypes.end(), schema.type) == kTypes.end()) {
      return problem(fmt::format("schema type {} is not a JSON Schema type", quote(schema.type)));
    }
    if (!has_type(value, schema.type)) {
      return problem(fmt::format("expected {}, got {}", schema.type, describe(value)));
    }
    return {};
  }

  Result<> check_bounds(const Schema& schema, const JsonNode& value) {
    if (value.kind != Kind::Number) {
      return {};
    }
    if (schema.minimum && value.number < *schema.minimum) {
      return problem(fmt::format("expected at least {}, got {}", *schema.minimum, describe(value)));
    }
    if (schema.maximum && value.number > *schema.maximum) {
      return problem(fmt::format("expected at most {}, got {}", *schema.maximum, describe(value)));
    }
    return {};
  }

  Result<> check_object(const Schema& schema, const JsonNode& value) {
    if (schema.required) {
      for (const std::string& name : *schema.required) {
        if (value.find(name) == nullptr) {
          return problem(fmt::format("missing required property {}", quote(name)));
        }
      }
    }
    std::vector<const std::pair<std::string, JsonNode>*> members;
    members.reserve(value.members.size());
    for (const auto& member : value.members) {
      members.push_back(&member);
    }
    std::sort(members.begin(), members.end(),
              [](const auto* left, const auto* right) { return left->first < right->first; });
    for (const auto* member : members) {
      BAWN_TRY(check_member(schema, member->first, member->second));
    }
    return {};
  }

  Result<> check_member(const Schema& schema, const std::string& name, const JsonNode& value) {
    const Schema* const property = find_property(schema, name);
    if (property == nullptr && schema.no_additional) {
      return problem("unexpected property " + quote(text_start(name, kShownName)));
    }
    const Schema* const rule = property != nullptr ? property : schema.additional.get();
    return rule == nullptr ? Result<>() : below(Step{.name = &name}, *rule, value);
  }

  static const Schema* find_property(const Schema& schema, std::string_view name) {
    if (schema.properties) {
      for (const auto& [key, property] : *schema.properties) {
        if (key == name) {
          return &property;
        }
      }
    }
    return nullptr;
  }

  Result<> check_items(const Schema& schema, const JsonNode& value) {
    if (!schema.items) {
      return {};
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      BAWN_TRY(below(Step{.index = i}, *schema.items, value.items[i]));
    }
    return {};
  }

  /// A member's name, or without one an item's index.
  struct Step {
    const std::string* name = nullptr;
    std::size_t index = 0;
  };

  Result<> below(Step step, const Schema& schema, const JsonNode& value) {
    steps_.push_back(step);
    auto result = check(schema, value);
    steps_.pop_back();
    return result;
  }

  // Only a problem needs the text of the path; most calls have none.
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Step& step : steps_) {
      if (step.name == nullptr) {
        path += fmt::format("[{}]", step.index);
      } else {
        path += (path.empty() ? "" : ".") + plain_or_quoted(text_start(*step.name, kShownName));
      }
    }
    return path;
  }

  [[nodiscard]] Result<> problem(std::string message) const {
    std::string where = path();
    const Error error(ErrorCode::InvalidArgument, fmt::format("invalid arguments: {}{}{}", where,
                                                              where.empty() ? "" : ": ", message));
    return std::unexpected(error.with_payload(
        ValidationProblem{.path = std::move(where), .message = std::move(message)}));
  }

  std::vector<Step> steps_;
};

}  // namespace

Result<> validate(const Schema& schema, const JsonNode& value) {
  return Validator().check(schema, value);
}

Result<> validate_arguments(const Schema& schema, std::string_view args) {
  const JsonNode value = BAWN_TRY(parse_arguments(args));
  return validate(schema, value);
}

}  // namespace bawn::contract
