#include "bawn/contract/make_tool.hpp"

#include "bawn/contract/admission.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/guard.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/validate.hpp"
#include "json_depth.hpp"
#include "tool_options.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace detail {
namespace {

/// A tool over a decoded document.
class TypedTool final : public Tool, public SelfChecking {
 public:
  TypedTool(Definition definition, Properties properties, std::optional<Schema> schema,
            ArgsFunction function)
      : Tool(std::move(definition), std::move(properties)),
        schema_(std::move(schema)),
        function_(std::move(function)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    if (const auto available = check_available(*this, context); !available) {
      return available.error();
    }
    const auto node = parse_arguments(call.args);
    if (!node) {
      return node.error();
    }
    if (schema_) {
      if (const auto valid = validate(*schema_, *node); !valid) {
        return valid.error();
      }
    }
    return function_(context, call, *node);
  }
  bool checks_arguments() const noexcept override { return schema_.has_value(); }

 private:
  std::optional<Schema> schema_;  ///< none: the decoder alone decides
  ArgsFunction function_;
};

class RawTool final : public Tool {
 public:
  RawTool(Definition definition, Properties properties, RawFunction function)
      : Tool(std::move(definition), std::move(properties)), function_(std::move(function)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    if (const auto available = check_available(*this, context); !available) {
      return available.error();
    }
    return function_(context, call);
  }

 private:
  RawFunction function_;
};

// Texts that are served as JSON must be JSON; found here and not by the first client.
Result<> check_schema_text(const std::optional<std::string>& text, std::string_view what) {
  if (!text) {
    return {};
  }
  const auto json = parse_json(*text);
  if (!json) {
    return std::unexpected(json.error().wrap(what));
  }
  if (!json->is_object()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{}: not a JSON object", what));
  }
  if (!is_object_schema(*json)) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("{}: not the schema of an object: its \"type\" must be \"object\"", what));
  }
  return {};
}

Result<> check_texts(std::string_view name, std::string_view description,
                     const std::optional<std::string>& parameters,
                     const std::optional<std::string>& output_schema) {
  if (name.empty()) {
    return fail(ErrorCode::InvalidArgument, "empty name");
  }
  if (!is_utf8(name) || !is_utf8(description)) {
    return fail(ErrorCode::InvalidArgument, "name and description must be UTF-8");
  }
  BAWN_TRY(check_schema_text(parameters, "parameters"));
  return check_schema_text(output_schema, "output schema");
}

Result<> check_cli(const Definition& definition, const std::optional<CliInfo>& info,
                   const ExampleDecoder& decode_example) {
  if (!info) {
    return {};
  }
  return check_cli_info(*info, BAWN_TRY(parse_json(parameters_of(definition))), decode_example);
}

}  // namespace

Properties properties_of(ToolOptions options) {
  return Properties{.sequential = options.sequential,
                    .resource = std::move(options.resource),
                    .resources = std::move(options.resources),
                    .annotations = std::move(options.annotations),
                    .output_schema = std::move(options.output_schema),
                    .confined = std::move(options.confined),
                    .replay = std::move(options.replay),
                    .facts = std::move(options.facts),
                    .availability = std::move(options.availability),
                    .closer = std::move(options.closer),
                    .cli = std::move(options.cli)};
}

std::unexpected<Error> construction_error(std::string_view maker, std::string_view name,
                                          std::string_view problem) {
  return fail(ErrorCode::InvalidArgument, fmt::format("{}({}): {}", maker, quote(name), problem));
}

Result<ToolPtr> build_typed_tool(std::string name, std::string description, Result<Schema> schema,
                                 ArgsFunction function, ToolOptions options,
                                 const ExampleDecoder& decode_example) {
  constexpr std::string_view kMaker = "make_tool";
  if (const auto ok = check_texts(name, description, options.parameters, options.output_schema);
      !ok) {
    return construction_error(kMaker, name, ok.error().message());
  }
  Definition definition{.name = std::move(name),
                        .description = std::move(description),
                        .parameters = std::move(options.parameters),
                        .strict = options.strict};
  std::optional<Schema> validated;
  if (!definition.parameters) {
    if (!schema) {
      return construction_error(kMaker, definition.name, schema.error().message());
    }
    definition.parameters = dump_json(to_json(*schema));
    if (!options.without_validation) {
      validated = *std::move(schema);
    }
  }
  if (const auto good = check_cli(definition, options.cli, decode_example); !good) {
    return construction_error(kMaker, definition.name, good.error().message());
  }
  return std::make_shared<const TypedTool>(std::move(definition), properties_of(std::move(options)),
                                           std::move(validated), std::move(function));
}

Outcome json_outcome(Result<Json> json, bool structured) {
  if (!json) {
    return json.error().wrap("encode result");
  }
  if (const auto bounded = check_depth(*json); !bounded) {
    return bounded.error().wrap("encode result");
  }
  ToolResult result = text_result(dump_json(*json));
  if (structured) {
    result.structured = *std::move(json);
  }
  return result;
}

}  // namespace detail

Result<ToolPtr> make_raw_tool(std::string name, std::string description,
                              std::optional<std::string> parameters, RawFunction function,
                              ToolOptions options) {
  constexpr std::string_view kMaker = "make_raw_tool";
  if (!function) {
    return detail::construction_error(kMaker, name, "the function is empty");
  }
  if (const auto ok = detail::check_texts(name, description, parameters, options.output_schema);
      !ok) {
    return detail::construction_error(kMaker, name, ok.error().message());
  }
  Definition definition{.name = std::move(name),
                        .description = std::move(description),
                        .parameters = std::move(parameters),
                        .strict = options.strict};
  if (const auto good = detail::check_cli(definition, options.cli, {}); !good) {
    return detail::construction_error(kMaker, definition.name, good.error().message());
  }
  return std::make_shared<const detail::RawTool>(
      std::move(definition), detail::properties_of(std::move(options)), std::move(function));
}

}  // namespace bawn::contract
