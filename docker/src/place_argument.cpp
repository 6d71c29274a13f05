#include "bawn/container/tools.hpp"
#include "bawn/contract/definition.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace bawn::container {
namespace {

constexpr const char* kPlace = "place";
constexpr const char* kSession = "session";
constexpr const char* kRequest = "request";
constexpr const char* kDefaultSession = "main";
constexpr const char* kHelp =
    "Name of an open container (container_open): the call acts in there. Left out: on this machine";

/// The schema with the new member right behind `session`, or at the end.
Result<std::string> schema_with_place(const contract::Tool& inner) {
  Json schema = BAWN_TRY(contract::parse_json(contract::parameters_of(inner.definition())));
  if (!schema.is_object()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          inner.definition().name + " takes no object of arguments");
  }
  Json properties = Json::object();
  const Json member = {{"type", "string"}, {"description", kHelp}};
  const Json described = schema.value("properties", Json::object());
  for (const auto& [name, value] : described.items()) {
    properties[name] = value;
    if (name == kSession) {
      properties[kPlace] = member;
    }
  }
  properties[kPlace] = member;
  schema["properties"] = std::move(properties);
  return contract::dump_json(schema);
}

/// The arguments as the inner tool takes them: "place" becomes a part of "session". None when there
/// is no place, or when the inner tool must say what is wrong with them.
Result<std::optional<std::string>> without_place(std::string_view args) {
  if (args.find("\"place\"") == std::string_view::npos &&
      args.find("\\u") == std::string_view::npos) {
    return std::nullopt;
  }
  auto parsed = contract::parse_json(args);
  if (!parsed || !parsed->is_object() || !parsed->contains(kPlace)) {
    return std::nullopt;
  }
  const Json place = (*parsed)[kPlace];
  const Json session = parsed->value(kSession, Json(kDefaultSession));
  if (!place.is_string() || !session.is_string()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("invalid arguments: {} must be a string",
                                      place.is_string() ? kSession : kPlace));
  }
  if (auto named = check_place_name(place.get<std::string>()); !named) {
    return std::unexpected(std::move(named).error().wrap("invalid arguments"));
  }
  if (parsed->contains(kRequest) && !(*parsed)[kRequest].is_null()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "invalid arguments: a request widens this machine's wall and means "
                          "nothing in a container; leave out either request or place");
  }
  parsed->erase(kPlace);
  (*parsed)[kSession] = session.get<std::string>() + "@" + place.get<std::string>();
  return contract::dump_json(*parsed);
}

/// For properties, which answer before the call: arguments that are wrong are left to the call.
std::string inner_args(std::string_view args) {
  auto changed = without_place(args);
  return changed && *changed ? **std::move(changed) : std::string(args);
}

contract::Definition definition_of(const contract::Tool& inner, std::string schema) {
  contract::Definition definition = inner.definition();
  definition.parameters = std::move(schema);
  return definition;
}

contract::Properties properties_of(const contract::Tool& inner) {
  contract::Properties properties = inner.properties();
  const auto lead = [](auto& function) {
    if (function) {
      function = [asked = function](const contract::Context& context, std::string_view args) {
        return asked(context, inner_args(args));
      };
    }
  };
  lead(properties.resources);
  lead(properties.confined);
  lead(properties.replay);
  lead(properties.facts);
  return properties;
}

class PlacedTool final : public contract::Tool {
 public:
  PlacedTool(contract::ToolPtr inner, std::string schema)
      : Tool(definition_of(*inner, std::move(schema)), properties_of(*inner)),
        inner_(std::move(inner)) {}

  [[nodiscard]] contract::Outcome execute(const contract::Context& context,
                                          const contract::Call& call) const override {
    auto changed = without_place(call.args);
    if (!changed) {
      return changed.error();
    }
    if (!*changed) {
      return inner_->execute(context, call);
    }
    contract::Call placed = call;
    placed.args = **std::move(changed);
    return inner_->execute(context, placed);
  }
  [[nodiscard]] const contract::Tool* unwrap() const noexcept override { return inner_.get(); }

 private:
  contract::ToolPtr inner_;
};

}  // namespace

Result<contract::ToolPtr> with_place(contract::ToolPtr inner) {
  if (inner == nullptr) {
    return contract::fail(ErrorCode::InvalidArgument, "with_place: there is no tool");
  }
  std::string schema = BAWN_TRY(schema_with_place(*inner));
  return std::make_shared<const PlacedTool>(std::move(inner), std::move(schema));
}

}  // namespace bawn::container
