#include "catalog.hpp"

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// A schema that every client takes: MCP SDKs reject the whole list for a root of another type.
Result<Json> object_schema(std::string_view tool, std::string_view which, const std::string& text) {
  auto schema = contract::parse_json(text);
  if (!schema) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("tool {}: {} schema: {}", tool, which, schema.error().message()));
  }
  const auto type = schema->is_object() ? schema->find("type") : schema->end();
  if (type == schema->end() || *type != "object") {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("tool {}: {} schema: the root must have \"type\": \"object\"", tool, which));
  }
  return schema;
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
                                std::map<std::string, Json> tool_meta) {
  Catalog catalog;
  for (contract::ToolPtr& tool : tools) {
    Entry entry = BAWN_TRY(make_entry(std::move(tool)));
    const std::string& name = entry.tool->definition().name;
    if (!catalog.index_.emplace(name, catalog.entries_.size()).second) {
      return fail(ErrorCode::InvalidArgument, fmt::format("two tools are named {}", name));
    }
    if (const auto extra = tool_meta.find(name); extra != tool_meta.end()) {
      entry.meta = extra->second;
    }
    catalog.same_for_all_ = catalog.same_for_all_ && !entry.tool->properties().availability;
    catalog.entries_.push_back(std::move(entry));
  }
  return catalog;
}

Result<Catalog::Entry> Catalog::make_entry(contract::ToolPtr tool) {
  if (tool == nullptr) {
    return fail(ErrorCode::InvalidArgument, "a tool in the list is null");
  }
  const contract::Definition& definition = tool->definition();
  if (!is_tool_name(definition.name)) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("tool name {} must be 1 to 32 of a-z, 0-9 and _, beginning with a letter",
                    shown(definition.name)));
  }
  Entry entry{.tool = tool, .input_schema = {}, .output_schema = {}, .meta = Json::object()};
  constexpr std::string_view kNoArguments = R"({"type":"object","properties":{},"required":[]})";
  entry.input_schema = BAWN_TRY(object_schema(
      definition.name, "input", definition.parameters.value_or(std::string(kNoArguments))));
  if (const auto& schema = contract::output_schema_of(*tool)) {
    entry.output_schema = BAWN_TRY(object_schema(definition.name, "output", *schema));
  }
  return entry;
}

const contract::Tool* Catalog::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : entries_[found->second].tool.get();
}

Json Catalog::list(const contract::Context& context, const WireFeatures& features) const {
  Json tools = Json::array();
  for (const Entry& entry : entries_) {
    if (contract::is_available(*entry.tool, context).value_or(false)) {
      tools.push_back(describe(entry, context, features));
    }
  }
  return tools;
}

Json Catalog::describe(const Entry& entry, const contract::Context& context,
                       const WireFeatures& features) {
  const contract::Definition& definition = entry.tool->definition();
  const contract::Annotations hints =
      contract::annotations_of(*entry.tool).value_or(contract::Annotations{});
  Json tool = {{"name", definition.name}};
  if (features.structured && !hints.title.empty()) {
    tool["title"] = hints.title;
  }
  tool["description"] = definition.description;
  tool["inputSchema"] = entry.input_schema;
  if (features.structured && entry.output_schema) {
    tool["outputSchema"] = *entry.output_schema;
  }
  if (features.annotations) {
    // All four, also the false ones: hosts read a missing hint as the worst and ask the user.
    tool["annotations"] = hints_of(hints);
  }
  tool["_meta"] = entry.meta;
  tool["_meta"][std::string(meta::kConfinement)] =
      contract::to_json(contract::confined_by(*entry.tool, context, "{}"));
  return tool;
}

}  // namespace bawn::mcp
