#include "client/mirrored_arguments.hpp"

#include "headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace bawn::mcp {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr const char* kMark = "x-mcp-header";

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (static_cast<unsigned char>(c) < 0x80 &&
            std::isalnum(static_cast<unsigned char>(c)) != 0) ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// How many subschemas carry the mark, wherever they are. `named`: the members' names are a
/// schema's own words, not keywords.
std::size_t count_marks(const Json& value, bool named) {
  std::size_t count = 0;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      const bool names_below =
          !named && (name == "properties" || name == "$defs" || name == "definitions" ||
                     name == "patternProperties" || name == "dependentSchemas");
      count += std::size_t{!named && name == kMark};
      if (named || (name != "const" && name != "enum" && name != "default" && name != "examples")) {
        count += count_marks(member, names_below);
      }
    }
  } else if (value.is_array()) {
    for (const Json& element : value) {
      count += count_marks(element, false);
    }
  }
  return count;
}

Result<> collect(const Json& schema, std::vector<std::string>& path,
                 std::vector<MirroredArgument>& found) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) {
    return {};
  }
  for (const auto& [name, property] : properties->items()) {
    if (!property.is_object()) {
      continue;
    }
    path.push_back(name);
    if (const auto mark = property.find(kMark); mark != property.end()) {
      const std::string header = mark->is_string() ? mark->get<std::string>() : "";
      const Json type = property.value("type", Json());
      if (!is_token(header)) {
        return fail(ErrorCode::ToolFailed, fmt::format("{}: {} is no header name", shown(name),
                                                       shown(contract::dump_json(*mark))));
      }
      if (type != "string" && type != "integer" && type != "boolean") {
        return fail(
            ErrorCode::ToolFailed,
            fmt::format("{}: only strings, integers and booleans can be headers", shown(name)));
      }
      found.push_back({.path = path, .header = "Mcp-Param-" + header});
    }
    BAWN_TRY(collect(property, path, found));
    path.pop_back();
  }
  return {};
}

}  // namespace

Result<std::vector<MirroredArgument>> mirrored_arguments(const Json& schema) {
  std::vector<MirroredArgument> found;
  std::vector<std::string> path;
  BAWN_TRY(collect(schema, path, found));
  if (count_marks(schema, false) != found.size()) {
    return fail(ErrorCode::ToolFailed, "a header is asked for where no plain property is");
  }
  for (auto one = found.begin(); one != found.end(); ++one) {
    if (std::any_of(found.begin(), one, [&](const MirroredArgument& other) {
          return equal_ignoring_case(other.header, one->header);
        })) {
      return fail(ErrorCode::ToolFailed, fmt::format("{} is asked for twice", one->header));
    }
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> mirrored_values(
    const std::vector<MirroredArgument>& mirrored, const Json& arguments) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const MirroredArgument& one : mirrored) {
    const Json* value = &arguments;
    for (const std::string& name : one.path) {
      const auto member = value->is_object() ? value->find(name) : value->end();
      value = value->is_object() && member != value->end() ? &*member : nullptr;
      if (value == nullptr) {
        break;
      }
    }
    const auto text = value == nullptr ? std::nullopt : mirrored_text(*value);
    if (text) {
      values.emplace_back(one.header, *text);
    }
  }
  return values;
}

}  // namespace bawn::mcp
