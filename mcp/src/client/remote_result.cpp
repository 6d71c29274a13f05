#include "client/remote_result.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/lower_case.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::Json;
using contract::Outcome;
using contract::Part;

// The name of a file with audio of this type. Source: IANA media types and their older spellings.
std::string audio_name(std::string mime) {
  static constexpr auto kExtensions =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"audio/wav", ".wav"},
                                                                    {"audio/x-wav", ".wav"},
                                                                    {"audio/wave", ".wav"},
                                                                    {"audio/mpeg", ".mp3"},
                                                                    {"audio/mp3", ".mp3"},
                                                                    {"audio/mp4", ".m4a"},
                                                                    {"audio/aac", ".aac"},
                                                                    {"audio/ogg", ".ogg"},
                                                                    {"audio/opus", ".opus"},
                                                                    {"audio/flac", ".flac"},
                                                                    {"audio/webm", ".webm"}});
  mime.erase(std::min(mime.find(';'), mime.size()));
  mime = contract::lower_case(mime);
  const auto* const known =
      std::ranges::find(kExtensions, mime, &std::pair<std::string_view, std::string_view>::first);
  return "audio" + std::string(known == kExtensions.end() ? "" : known->second);
}

Part resource_part(const Json& block) {
  const Json resource = block.value("resource", Json());
  if (const std::string data = string_member(resource, "blob"); !data.empty()) {
    return {
        {"type", "input_file"}, {"filename", string_member(resource, "uri")}, {"file_data", data}};
  }
  return {{"type", "text"}, {"text", string_member(resource, "text")}};
}

/// The block in the form that contract parts have.
Part part_of(const Json& block) {
  const std::string type = string_member(block, "type");
  const std::string mime = string_member(block, "mimeType");
  if (type == "image") {
    return {{"type", "input_image"},
            {"image_url",
             fmt::format("data:{};base64,{}", mime.empty() ? "application/octet-stream" : mime,
                         string_member(block, "data"))}};
  }
  if (type == "audio") {
    return {{"type", "input_file"},
            {"filename", audio_name(mime)},
            {"file_data", string_member(block, "data")}};
  }
  if (type == "resource") {
    return resource_part(block);
  }
  if (type == "resource_link") {
    return {{"type", "text"}, {"text", "resource: " + string_member(block, "uri")}};
  }
  return block;
}

bool is_text(const Json& block) {
  return string_member(block, "type") == "text";
}

/// Servers that follow the protocol's advice repeat the structure as the JSON of one text block.
bool repeats(const Json& content, const Json& structured) {
  const auto wanted = contract::canonical_json(structured);
  return wanted && std::ranges::any_of(content, [&](const Json& block) {
           const std::string text = is_text(block) ? string_member(block, "text") : "";
           if (!text.starts_with('{') && !text.starts_with('[')) {
             return false;
           }
           const auto value = contract::parse_json(text);
           const auto written = value ? contract::canonical_json(*value) : wanted;
           return value && written && *written == *wanted;
         });
}

/// Of text blocks alone their text, of others their parts.
contract::ToolResult output_of(const Json& content) {
  contract::ToolResult made;
  std::vector<Part> parts;
  std::ranges::transform(content, std::back_inserter(parts), part_of);
  made.output = std::move(parts);
  if (std::ranges::all_of(content, is_text)) {
    made.output = contract::output_text(made);
  }
  return made;
}

/// The record of a result's `_meta`; none when it is not one.
std::optional<contract::Record> record_of_meta(const Json& result) {
  const Json members = result.value("_meta", Json());
  for (const std::string_view key : {meta::kRecord, meta::kAgenttoolRecord}) {
    const Json entry = members.is_object() ? members.value(std::string(key), Json()) : Json();
    const std::string name_space = string_member(entry, "ns");
    auto data = contract::parse_json(string_member(entry, "data"));
    if (!name_space.empty() && data) {
      return contract::Record{.name_space = name_space, .data = *std::move(data)};
    }
  }
  return std::nullopt;
}

std::vector<std::string> strings_in(const Json& object, const char* name) {
  std::vector<std::string> strings;
  const Json list = object.is_object() ? object.value(name, Json()) : Json();
  for (const Json& one : list.is_array() ? list : Json::array()) {
    if (one.is_string()) {
      strings.push_back(one.get<std::string>());
    }
  }
  return strings;
}

bool flag_in(const Json& object, const char* name) {
  return object.is_object() && object.value(name, Json()) == true;
}

contract::Layer layer_in(const Json& json) {
  const Json abi = json.is_object() ? json.value("abi", Json()) : Json();
  return {.name = string_member(json, "name"),
          .requested = flag_in(json, "requested"),
          .applied = flag_in(json, "applied"),
          .abi = abi.is_number_integer() ? std::optional(abi.get<int>()) : std::nullopt,
          .missing = strings_in(json, "missing"),
          .reason = string_member(json, "reason")};
}

}  // namespace

contract::Result<Json> RemoteDetails::record_json() const {
  return record_ ? contract::Result<Json>(record_->data) : contract::Details::record_json();
}

std::string string_member(const Json& object, std::string_view name) {
  if (!object.is_object()) {
    return "";
  }
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

std::optional<contract::Confinement> confinement_in(const Json& meta) {
  const Json json = meta.is_object() ? meta.value(std::string(meta::kConfinement), Json()) : Json();
  if (!json.is_object() || !json.value("confined", Json()).is_boolean()) {
    return std::nullopt;
  }
  contract::Confinement confinement{.confined = flag_in(json, "confined"),
                                    .by = string_member(json, "by"),
                                    .confirmed = flag_in(json, "confirmed"),
                                    .policy = string_member(json, "policy"),
                                    .policy_id = string_member(json, "policy_id"),
                                    .user = string_member(json, "user"),
                                    .guarantees = strings_in(json, "guarantees"),
                                    .notes = strings_in(json, "notes")};
  const Json layers = json.value("layers", Json());
  for (const Json& layer : layers.is_array() ? layers : Json::array()) {
    confinement.layers.push_back(layer_in(layer));
  }
  if (const Json network = json.value("network", Json()); network.is_object()) {
    confinement.network = contract::NetworkReach{.mode = string_member(network, "mode"),
                                                 .proxy = flag_in(network, "proxy"),
                                                 .supervised = flag_in(network, "supervised"),
                                                 .hosts = strings_in(network, "hosts")};
  }
  return confinement;
}

Outcome outcome_of(std::string_view tool, const Json& result, const ClientOptions& options) {
  Json content = result.is_object() ? result.value("content", Json::array()) : Json();
  if (!content.is_array()) {
    return Error(ErrorCode::ToolFailed,
                 fmt::format("mcp: call \"{}\": its result has no content", tool));
  }
  const std::size_t size = contract::dump_json(content).size();
  if (options.max_result_bytes != 0 && size > options.max_result_bytes) {
    return Error(ErrorCode::ResourceExhausted,
                 fmt::format("mcp: tool \"{}\" ran, but its result is {} bytes, over the "
                             "{}-byte limit",
                             tool, size, options.max_result_bytes));
  }
  const auto structured = result.find("structuredContent");
  if (structured != result.end() && !repeats(content, *structured)) {
    content.push_back({{"type", "text"}, {"text", contract::dump_json(*structured)}});
  }
  contract::ToolResult made = output_of(content);
  if (structured != result.end()) {
    made.structured = *structured;
  }
  made.confinement = options.confinement;
  if (!made.confinement && options.trusted) {
    made.confinement = confinement_in(result.value("_meta", Json()));
  }
  made.details = std::make_shared<RemoteDetails>(
      result, options.trusted ? record_of_meta(result) : std::nullopt);
  if (result.value("isError", Json()) == true) {
    const std::string why = contract::output_text(made);
    return {std::move(made), Error(ErrorCode::ToolFailed, why.empty() ? "tool call failed" : why)};
  }
  return made;
}

}  // namespace bawn::mcp
