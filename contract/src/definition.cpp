#include "bawn/contract/definition.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/schema.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace {

std::unexpected<Error> bad_definition(std::string_view name, std::string_view problem) {
  return fail(ErrorCode::InvalidArgument, fmt::format("tool {}: {}", quote(name), problem));
}

// A member of the wire form; null when it is absent or null.
const Json* member(const Json& wire, const char* name) {
  const auto found = wire.find(name);
  return found == wire.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

std::string_view parameters_of(const Definition& definition) noexcept {
  return definition.parameters ? std::string_view(*definition.parameters) : kNoArgsSchema;
}

bool is_object_schema(const Json& schema) {
  const auto type = schema.is_object() ? schema.find("type") : schema.end();
  return schema.is_object() && type != schema.end() && *type == "object";
}

Result<Json> to_json(const Definition& definition) {
  auto parameters = parse_json(parameters_of(definition));
  if (!parameters) {
    return bad_definition(definition.name, "parameters: " + parameters.error().message());
  }
  if (!parameters->is_object()) {
    return bad_definition(definition.name, "parameters: not a JSON object");
  }
  Json wire;
  wire["type"] = "function";
  wire["name"] = definition.name;
  wire["description"] = definition.description;
  wire["parameters"] = *std::move(parameters);
  if (definition.strict) {
    wire["strict"] = true;
  }
  return wire;
}

Result<Definition> definition_from_json(const Json& wire) {
  const Json* const name = wire.is_object() ? member(wire, "name") : nullptr;
  if (name == nullptr || !name->is_string() || name->get_ref<const std::string&>().empty()) {
    return fail(ErrorCode::InvalidArgument, "a tool definition needs a non-empty string \"name\"");
  }
  Definition definition{.name = name->get<std::string>()};
  if (const Json* const type = member(wire, "type"); type != nullptr && *type != "function") {
    return bad_definition(definition.name, "\"type\" must be \"function\"");
  }
  if (const Json* const description = member(wire, "description")) {
    if (!description->is_string()) {
      return bad_definition(definition.name, "\"description\" must be a string");
    }
    definition.description = description->get<std::string>();
  }
  if (const Json* const parameters = member(wire, "parameters")) {
    if (!parameters->is_object()) {
      return bad_definition(definition.name, "\"parameters\" must be an object");
    }
    definition.parameters = dump_json(*parameters);
  }
  if (const Json* const strict = member(wire, "strict")) {
    if (!strict->is_boolean()) {
      return bad_definition(definition.name, "\"strict\" must be true or false");
    }
    definition.strict = strict->get<bool>();
  }
  return definition;
}

Result<std::string> canonical_definition(const Definition& definition) {
  return canonical_json(BAWN_TRY(to_json(definition)));
}

Result<std::string> definition_hash(const Definition& definition) {
  return "sha256:" + sha256_hex(BAWN_TRY(canonical_definition(definition)));
}

}  // namespace bawn::contract
