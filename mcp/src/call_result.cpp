#include "call_result.hpp"

#include "bawn/contract/failure.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/contract/visible_text.hpp"
#include "bawn/mcp/client.hpp"
#include "content.hpp"
#include "json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace bawn::mcp {
namespace {

using contract::Error;

// The sentence for the caller. One that is withheld goes to the log, or nobody would ever read it.
std::string error_text(const Core& core, const contract::Tool& tool, const Error& error) {
  std::string shown = contract::disclosed_text(error, core.options.disclosure);
  if (shown != error.message()) {
    core.log.warn(fmt::format("{}: {}", tool.definition().name, error.message()));
  }
  return shown;
}

/// Absent when the details are not for keeping. A record that cannot be written does not fail the
/// call: it says so in its place.
std::optional<Json> record_member(const contract::Details* details) {
  auto record = contract::record_of(details);
  if (!record) {
    return Json{{"error", record.error().message()}};
  }
  if (!*record) {
    return std::nullopt;
  }
  return Json{{"ns", (*record)->name_space}, {"data", contract::dump_json((*record)->data)}};
}

void append_text_block(std::string& text, std::string_view value) {
  text += R"([{"type":"text","text":)";
  contract::is_visible(value) ? append_string(text, value)
                              : append_string(text, contract::visible_text(value));
  text += "}]";
}

const RemoteDetails* remote_details(const contract::ToolResult& result) {
  return dynamic_cast<const RemoteDetails*>(result.details.get());
}

bool has_text(const Json& content) {
  return std::ranges::any_of(
      content, [](const Json& block) { return block.value("type", Json()) == "text"; });
}

/// The content blocks; what came from another server goes out as it came.
Json blocks_of(const contract::ToolResult& result, const WireFeatures& features) {
  if (const RemoteDetails* remote = remote_details(result)) {
    const auto content = remote->raw().find("content");
    const bool listed = content != remote->raw().end() && content->is_array();
    return listed ? content_of(content->get<std::vector<contract::Part>>(), features)
                  : Json::array();
  }
  const auto* const parts = std::get_if<std::vector<contract::Part>>(&result.output);
  return parts != nullptr ? content_of(*parts, features) : Json::array();
}

/// Hosts show the model one of the two forms, text or structure, so each must be complete.
void append_content(std::string& text, const contract::ToolResult& result,
                    const WireFeatures& features) {
  const auto* const plain = std::get_if<std::string>(&result.output);
  if (plain != nullptr && !plain->empty() && remote_details(result) == nullptr) {
    append_text_block(text, *plain);
    return;
  }
  Json content = blocks_of(result, features);
  if (result.structured && !has_text(content)) {
    std::string structured;
    append_json(structured, *result.structured);
    content.insert(content.begin(), text_block(std::move(structured)));
  }
  append_json(text, content.empty() ? Json::array({text_block("")}) : content);
}

/// The members of `_meta`, each written once there is one.
class MetaWriter {
 public:
  explicit MetaWriter(std::string& text) : text_(text) {}
  void add_text(std::string_view name, std::string_view value) {
    text_ += open_ ? "," : R"(,"_meta":{)";
    open_ = true;
    append_string(text_, name);
    text_ += ':';
    text_ += value;
  }
  void add(std::string_view name, const Json& value) {
    std::string text;
    append_json(text, value);
    add_text(name, text);
  }
  void close() {
    if (open_) {
      text_ += '}';
    }
  }

 private:
  std::string& text_;
  bool open_ = false;
};

std::string result_head(const WireFeatures& features) {
  return features.envelope ? R"({"resultType":"complete","content":)" : R"({"content":)";
}

}  // namespace

std::string call_result(const Core& core, const CatalogEntry& entry,
                        const contract::Outcome& outcome, const Era& era) {
  const WireFeatures features = era.features();
  const contract::Tool& tool = *entry.tool;
  if (!outcome.error && features.structured) {
    if (const auto kept = entry.check_output(outcome.result.structured); !kept) {
      const std::string& name = tool.definition().name;
      core.log.warn(fmt::format("{} broke its output schema: {}", name, kept.error().message()));
      return error_result(
          core, fmt::format("{} ran, but its result breaks its own output schema", name), era);
    }
  }
  const contract::ToolResult& result = outcome.result;
  std::string text = result_head(features);
  if (const auto* const plain = std::get_if<std::string>(&result.output)) {
    // A large text usually comes a second time in the structure, both with a few escapes.
    text.reserve(text.size() + plain->size() * 9 / 4 + 4096);
  }
  if (outcome.error) {
    append_text_block(text, error_text(core, tool, *outcome.error));
  } else {
    append_content(text, result, features);
  }
  if (features.structured && result.structured) {
    text += R"(,"structuredContent":)";
    append_json(text, *result.structured);
  }
  text += outcome.error ? R"(,"isError":true)" : R"(,"isError":false)";
  MetaWriter members(text);
  if (result.confinement) {
    members.add_text(meta::kConfinement, *core.report_text.of(*result.confinement));
  }
  if (const auto record = record_member(result.details.get())) {
    members.add(meta::kRecord, *record);
  }
  if (features.envelope) {
    members.add_text(meta::kServerInfo, core.server_info_text());
  }
  members.close();
  text += '}';
  return text;
}

std::string error_result(const Core& core, std::string_view message, const Era& era) {
  const WireFeatures features = era.features();
  std::string text = result_head(features);
  append_text_block(text, message);
  text += R"(,"isError":true)";
  MetaWriter members(text);
  if (features.envelope) {
    members.add_text(meta::kServerInfo, core.server_info_text());
  }
  members.close();
  text += '}';
  return text;
}

}  // namespace bawn::mcp
