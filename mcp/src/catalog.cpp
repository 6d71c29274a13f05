#include "catalog.hpp"

#include "bawn/contract/admission.hpp"
#include "bawn/contract/confinement.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/json_node.hpp"
#include "bawn/contract/lower_case.hpp"
#include "bawn/contract/properties.hpp"
#include "json_text.hpp"
#include "message.hpp"
#include "raw_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Result;

// Hosts prefix names with the server's and cut at 64 bytes, and some models refuse dots.
bool is_tool_name(std::string_view name) {
  constexpr std::size_t kLongest = 32;
  return !name.empty() && name.size() <= kLongest && name[0] >= 'a' && name[0] <= 'z' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// What MCP itself allows (2025-11-25, tools, tool names).
bool is_mcp_name(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
}

/// A schema that every client takes: MCP SDKs reject the whole list for a root of another type.
Result<std::string> object_schema(std::string_view tool, std::string_view which, std::string text) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("tool {}: {} schema: {}", tool, which, why));
  };
  // One quick look is enough for nearly all; a line end would end the message on stdio.
  const auto scanned = scan_message(text, kMaxValues);
  bool of_object = scanned && scanned->members.find("type") == R"("object")";
  if (!scanned || text.find_first_of("\r\n") != std::string::npos) {
    const auto parsed = contract::parse_json(text);
    if (!parsed) {
      return wrong(parsed.error().message());
    }
    of_object = contract::is_object_schema(*parsed);
    text = contract::dump_json(*parsed);
  }
  if (!of_object) {
    return wrong("the root must have \"type\": \"object\"");
  }
  return text;
}

std::vector<MirroredProperty> mirrored_in(const std::string& schema) {
  std::vector<MirroredProperty> mirrored;
  if (schema.find("\"x-mcp-header\"") == std::string::npos) {
    return mirrored;
  }
  const auto parsed = contract::parse_json(schema);
  if (!parsed || !parsed->contains("properties") || !(*parsed)["properties"].is_object()) {
    return mirrored;
  }
  for (const auto& [name, property] : (*parsed)["properties"].items()) {
    const auto header = property.is_object() ? property.find("x-mcp-header") : property.end();
    if (property.is_object() && header != property.end() && header->is_string()) {
      mirrored.push_back(
          {.property = name,
           .header = "mcp-param-" + contract::lower_case(header->get<std::string>())});
    }
  }
  return mirrored;
}

Json hints_of(const contract::Annotations& hints) {
  Json annotations = Json::object();
  if (!hints.title.empty()) {
    annotations["title"] = hints.title;
  }
  annotations["readOnlyHint"] = hints.read_only;
  annotations["destructiveHint"] = hints.destructive;
  annotations["idempotentHint"] = hints.idempotent;
  annotations["openWorldHint"] = hints.open_world;
  return annotations;
}

}  // namespace

Result<Catalog> Catalog::create(std::vector<contract::ToolPtr> tools,
                                std::map<std::string, Json> tool_meta, bool any_name) {
  Catalog catalog;
  for (contract::ToolPtr& tool : tools) {
    CatalogEntry entry = BAWN_TRY(make_entry(std::move(tool), any_name));
    const std::string& name = entry.tool->definition().name;
    if (!catalog.index_.emplace(name, catalog.entries_.size()).second) {
      return fail(ErrorCode::InvalidArgument, fmt::format("two tools are named {}", name));
    }
    if (const auto extra = tool_meta.find(name); extra != tool_meta.end()) {
      entry.meta = extra->second;
    }
    catalog.same_for_all_ = catalog.same_for_all_ && !entry.tool->properties().availability;
    catalog.entries_.push_back(std::make_shared<const CatalogEntry>(std::move(entry)));
  }
  return catalog;
}

Result<CatalogEntry> Catalog::make_entry(contract::ToolPtr tool, bool any_name) {
  if (tool == nullptr) {
    return fail(ErrorCode::InvalidArgument, "a tool in the list is null");
  }
  const contract::Definition& definition = tool->definition();
  if (any_name ? !is_mcp_name(definition.name) : !is_tool_name(definition.name)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("tool name {} must be {}", shown(definition.name),
                            any_name ? "1 to 128 of A-Z, a-z, 0-9, _, - and ."
                                     : "1 to 32 of a-z, 0-9 and _, beginning with a letter"));
  }
  CatalogEntry entry;
  entry.tool = tool;
  constexpr std::string_view kNoArguments = R"({"type":"object","properties":{},"required":[]})";
  entry.input_schema = BAWN_TRY(object_schema(
      definition.name, "input", definition.parameters.value_or(std::string(kNoArguments))));
  if (const auto& schema = contract::output_schema_of(*tool)) {
    entry.output_schema = BAWN_TRY(object_schema(definition.name, "output", *schema));
  }
  entry.mirrored = mirrored_in(entry.input_schema);
  return entry;
}

Result<> CatalogEntry::check_output(const std::optional<Json>& structured) const {
  if (!output_schema) {
    return {};
  }
  if (!structured) {
    return fail(ErrorCode::Internal, "there is no structured output");
  }
  return output_->validate(*output_schema, *structured);
}

Result<> CatalogEntry::check_input(std::string_view arguments) const {
  if (contract::checks_arguments(*tool)) {
    return {};
  }
  const auto args = contract::parse_arguments(arguments);
  if (!args) {
    return std::unexpected(args.error());
  }
  const auto fits = input_->validate(input_schema, contract::to_json(*args));
  return fits ? fits : std::unexpected(fits.error().wrap("invalid arguments"));
}

Result<> CatalogEntry::LazySchema::validate(const std::string& schema, const Json& value) {
  std::call_once(once_, [&] { schema_ = contract::JsonSchema::compile_text(schema); });
  if (!*schema_) {
    return std::unexpected(schema_->error());
  }
  return (*schema_)->validate(value);
}

EntryPtr Catalog::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : entries_[found->second];
}

namespace {

/// In a tool's `_meta`: how a command line presents it (C-220).
constexpr std::string_view kCli = "bawn/cli";

void append_member(std::string& text, std::string_view name, std::string_view value) {
  text += ',';
  append_string(text, name);
  text += ':';
  text += value;
}

std::string string_text(std::string_view value) {
  std::string text;
  append_string(text, value);
  return text;
}

std::string json_text(const Json& value) {
  std::string text;
  append_json(text, value);
  return text;
}

std::string described(const CatalogEntry& entry, const WireFeatures& features,
                      std::string_view confinement) {
  const contract::Definition& definition = entry.tool->definition();
  const contract::Annotations hints =
      contract::annotations_of(*entry.tool).value_or(contract::Annotations{});
  std::string text = R"({"name":)" + string_text(definition.name);
  if (features.structured && !hints.title.empty()) {
    append_member(text, "title", string_text(hints.title));
  }
  append_member(text, "description", string_text(definition.description));
  append_member(text, "inputSchema", entry.input_schema);
  if (features.structured && entry.output_schema) {
    append_member(text, "outputSchema", *entry.output_schema);
  }
  if (features.annotations) {
    // All four, also the false ones: hosts read a missing hint as the worst and ask the user.
    append_member(text, "annotations", json_text(hints_of(hints)));
  }
  std::string members = "{" + string_text(meta::kConfinement) + ":" + std::string(confinement);
  if (const auto& cli = contract::cli_of(*entry.tool)) {
    append_member(members, kCli, json_text(contract::to_json(*cli)));
  }
  for (const auto& [name, value] : entry.meta.items()) {
    append_member(members, name, json_text(value));
  }
  append_member(text, "_meta", members + "}");
  return text + "}";
}

}  // namespace

std::string Catalog::list(const contract::Context& context, const WireFeatures& features,
                          const ReportText& reports) const {
  std::string text = "[";
  for (const EntryPtr& entry : entries_) {
    if (contract::is_available(*entry->tool, context).value_or(false)) {
      const auto report = reports.of(contract::confined_by(*entry->tool, context, "{}"));
      text += text.size() > 1 ? "," : "";
      text += described(*entry, features, *report);
    }
  }
  return text + "]";
}

}  // namespace bawn::mcp
