#include "bawn/contract/cli_info.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bawn::contract {
namespace {

constexpr std::array<std::string_view, 8> kRoles = {"",       "identity", "health", "routes",
                                                    "traces", "trace",    "logs",   "metrics"};

std::unexpected<Error> defect(std::string_view text) {
  return fail(ErrorCode::InvalidArgument, fmt::format("cli: {}", text));
}

Result<> check_positional(const std::vector<std::string>& names, const Json& schema) {
  const auto properties = schema.is_object() ? schema.find("properties") : schema.end();
  const bool described =
      schema.is_object() && properties != schema.end() && properties->is_object();
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) {
      return defect(fmt::format("positional argument {} is named twice", quote(*name)));
    }
    if (!described || !properties->contains(*name)) {
      return defect(
          fmt::format("positional argument {} is no property of the input schema", quote(*name)));
    }
  }
  return {};
}

Result<> check_example(const CliExample& example, const ExampleDecoder& decode) {
  const auto input = parse_json(example.input);
  if (!input) {
    return std::unexpected(input.error());
  }
  if (!input->is_object()) {
    return fail(ErrorCode::InvalidArgument, "expected a JSON object");
  }
  return decode ? decode(example.input) : Result<>();
}

}  // namespace

bool is_protocol_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

Json to_json(const CliInfo& info) {
  Json json = {{"group", info.group}, {"operation", info.operation}};
  if (!info.summary.empty()) {
    json["summary"] = info.summary;
  }
  if (!info.role.empty()) {
    json["role"] = info.role;
  }
  if (info.cursor) {
    json["cursor"] = true;
  }
  if (!info.positional.empty()) {
    json["positional"] = info.positional;
  }
  for (const CliExample& example : info.examples) {
    json["examples"].push_back({{"description", example.description},
                                {"input", parse_json(example.input).value_or(Json::object())}});
  }
  return json;
}

Result<> check_cli_info(const CliInfo& info, const Json& input_schema,
                        const ExampleDecoder& decode) {
  if (!is_protocol_name(info.group) || !is_protocol_name(info.operation)) {
    return defect("group and operation need 1 to 128 of the characters A-Z a-z 0-9 _ . -");
  }
  if (std::ranges::find(kRoles, info.role) == kRoles.end()) {
    return defect(fmt::format("unknown role {}", quote(info.role)));
  }
  BAWN_TRY(check_positional(info.positional, input_schema));
  for (const CliExample& example : info.examples) {
    if (const auto good = check_example(example, decode); !good) {
      return defect(
          fmt::format("example {}: {}", quote(example.description), good.error().message()));
    }
  }
  return {};
}

}  // namespace bawn::contract
