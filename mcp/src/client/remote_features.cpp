/// \file
/// A server's resources, prompts and completions. All that it says is checked before it goes on.

#include "client/connection.hpp"
#include "headers.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::ErrorCode;
using contract::fail;
using contract::Resource;
using contract::ResourceContents;
using contract::ResourceTemplate;
using contract::Result;
using RemoteClientPtr = std::shared_ptr<RemoteClient>;

/// A member that may be left out; the empty text then.
Result<std::string> text_in(const Json& entry, const char* name, const char* method) {
  const auto found = entry.find(name);
  if (found == entry.end()) {
    return std::string();
  }
  if (!found->is_string()) {
    return fail(ErrorCode::ToolFailed, fmt::format("mcp: {}: {} must be a string", method, name));
  }
  return found->get<std::string>();
}

/// One entry of a list, with the members that all of them have.
struct Entry {
  std::string key;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
};

Result<Entry> entry_in(const Json& json, const char* key, const char* method,
                       std::size_t max_description) {
  if (!json.is_object()) {
    return fail(ErrorCode::ToolFailed, fmt::format("mcp: {}: an entry is no object", method));
  }
  Entry entry{.key = BAWN_TRY(text_in(json, key, method)),
              .name = BAWN_TRY(text_in(json, "name", method)),
              .title = BAWN_TRY(text_in(json, "title", method)),
              .description = BAWN_TRY(text_in(json, "description", method)),
              .mime_type = BAWN_TRY(text_in(json, "mimeType", method))};
  if (entry.key.empty() || entry.name.empty()) {
    return fail(ErrorCode::ToolFailed, fmt::format("mcp: {}: an entry has no {}", method,
                                                   entry.key.empty() ? key : "name"));
  }
  if (max_description > 0 && entry.description.size() > max_description) {
    return fail(ErrorCode::ToolFailed,
                fmt::format("mcp: {}: the description of {} has more than {} "
                            "bytes",
                            method, shown(entry.key), max_description));
  }
  return entry;
}

/// The result of a request, which must be complete.
Result<Json> complete_result(RemoteClient& client, const Context& context,
                             RemoteClient::Request request) {
  request.deadline = client.soon();
  auto answer = BAWN_TRY(client.ask(context, request));
  if (!answer) {
    constexpr int kInvalidParams = -32602;
    constexpr int kResourceNotFound = -32002;
    const int code = answer.error().code;
    const auto error = failed(request.method, answer.error());
    return code == kInvalidParams || code == kResourceNotFound
               ? fail(ErrorCode::NotFound, error.message())
               : std::unexpected(error);
  }
  if (!answer->is_object()) {
    return fail(ErrorCode::ToolFailed,
                fmt::format("mcp: {}: the result is no object", request.method));
  }
  const Json type = answer->value("resultType", Json("complete"));
  if (type != "complete") {
    return fail(
        ErrorCode::ToolFailed,
        fmt::format("mcp: {}: the server asks for input, which is not passed on", request.method));
  }
  return *std::move(answer);
}

std::string member_text(const char* name, const Json& value) {
  return fmt::format(R"("{}":{})", name, contract::dump_json(value));
}

std::vector<std::string> completed(RemoteClient& client, const Context& context,
                                   const Json& reference, std::string_view argument,
                                   std::string_view value) {
  const Json asked = {{"name", argument}, {"value", value}};
  const auto result = complete_result(
      client, context,
      {.method = "completion/complete",
       .members = member_text("ref", reference) + "," + member_text("argument", asked)});
  std::vector<std::string> values;
  const Json completion = result ? result->value("completion", Json()) : Json();
  const Json list = completion.is_object() ? completion.value("values", Json()) : Json();
  for (const Json& one : list.is_array() ? list : Json::array()) {
    if (one.is_string()) {
      values.push_back(one.get<std::string>());
    }
  }
  return values;
}

Result<ResourceContents> contents_in(const Json& part, const std::string& uri) {
  constexpr const char* kMethod = "resources/read";
  if (!part.is_object()) {
    return fail(ErrorCode::ToolFailed, "mcp: resources/read: a part is no object");
  }
  ResourceContents contents{.uri = BAWN_TRY(text_in(part, "uri", kMethod)),
                            .mime_type = BAWN_TRY(text_in(part, "mimeType", kMethod)),
                            .bytes = {},
                            .text = part.contains("text")};
  if (contents.uri.empty()) {
    contents.uri = uri;
  }
  if (contents.text) {
    contents.bytes = BAWN_TRY(text_in(part, "text", kMethod));
    return contents;
  }
  auto bytes = decode_base64(BAWN_TRY(text_in(part, "blob", kMethod)));
  if (!bytes || !part.contains("blob")) {
    return fail(ErrorCode::ToolFailed, "mcp: resources/read: a part has neither text nor base64");
  }
  contents.bytes = *std::move(bytes);
  return contents;
}

class RemoteResources final : public contract::ResourceProvider {
 public:
  RemoteResources(RemoteClientPtr client, std::vector<ResourceTemplate> templates, bool completes)
      : client_(std::move(client)), templates_(std::move(templates)), completes_(completes) {}

  [[nodiscard]] Result<std::vector<Resource>> list(const Context& context) const override {
    auto resources = read_list(context);
    if (!resources) {
      client_->forget({.method = "resources/list"});
    }
    return resources;
  }

  [[nodiscard]] std::vector<ResourceTemplate> templates() const override { return templates_; }

  [[nodiscard]] Result<std::vector<ResourceContents>> read(const Context& context,
                                                           const std::string& uri) const override {
    const auto fetch = [&]() -> Result<RemoteClient::Fetched> {
      Json fetched = BAWN_TRY(complete_result(
          *client_, context,
          {.method = "resources/read", .members = member_text("uri", uri), .name = uri}));
      const Freshness freshness = client_->freshness_of(fetched);
      return RemoteClient::Fetched(std::move(fetched), freshness);
    };
    const Json result =
        BAWN_TRY(client_->kept_or(context, {.method = "resources/read", .uri = uri}, fetch));
    auto parts = parts_in(result, uri);
    if (!parts) {
      client_->forget({.method = "resources/read", .uri = uri});
    }
    return parts;
  }

  [[nodiscard]] std::vector<std::string> complete(const Context& context,
                                                  std::string_view uri_template,
                                                  std::string_view argument,
                                                  std::string_view value) const override {
    if (!completes_) {
      return {};
    }
    return completed(*client_, context, {{"type", "ref/resource"}, {"uri", uri_template}}, argument,
                     value);
  }

 private:
  [[nodiscard]] Result<std::vector<Resource>> read_list(const Context& context) const {
    std::vector<Resource> resources;
    for (const Json& json : BAWN_TRY(client_->pages(context, "resources/list", "resources"))) {
      Entry entry = BAWN_TRY(
          entry_in(json, "uri", "resources/list", client_->options().max_description_bytes));
      const Json size = json.value("size", Json());
      resources.push_back({.uri = std::move(entry.key),
                           .name = std::move(entry.name),
                           .title = std::move(entry.title),
                           .description = std::move(entry.description),
                           .mime_type = std::move(entry.mime_type),
                           .size = size.is_number_unsigned()
                                       ? std::optional(size.get<std::uint64_t>())
                                       : std::nullopt});
    }
    return resources;
  }

  [[nodiscard]] Result<std::vector<ResourceContents>> parts_in(const Json& result,
                                                               const std::string& uri) const {
    const Json list = result.value("contents", Json());
    if (!list.is_array()) {
      return fail(ErrorCode::ToolFailed, "mcp: resources/read: there are no contents");
    }
    const std::size_t limit = client_->options().max_result_bytes;
    std::size_t bytes = 0;
    std::vector<ResourceContents> parts;
    for (const Json& part : list) {
      parts.push_back(BAWN_TRY(contents_in(part, uri)));
      bytes += parts.back().bytes.size();
      if (limit > 0 && bytes > limit) {
        return fail(ErrorCode::ToolFailed,
                    fmt::format("mcp: resources/read: the resource has more than {} bytes", limit));
      }
    }
    return parts;
  }

  const RemoteClientPtr client_;
  const std::vector<ResourceTemplate> templates_;
  const bool completes_;
};

Result<PromptMessages> messages_in(const Json& result, std::size_t limit) {
  constexpr const char* kMethod = "prompts/get";
  PromptMessages messages{.description = BAWN_TRY(text_in(result, "description", kMethod))};
  const Json list = result.value("messages", Json());
  if (!list.is_array()) {
    return fail(ErrorCode::ToolFailed, "mcp: prompts/get: there are no messages");
  }
  if (limit > 0 && contract::dump_json(list).size() > limit) {
    return fail(ErrorCode::ToolFailed,
                fmt::format("mcp: prompts/get: the messages have more than {} bytes", limit));
  }
  for (const Json& message : list) {
    const Json role = message.is_object() ? message.value("role", Json()) : Json();
    const Json content = message.is_object() ? message.value("content", Json()) : Json();
    if ((role != "user" && role != "assistant") || !content.is_object() ||
        !content.value("type", Json()).is_string()) {
      return fail(ErrorCode::ToolFailed, "mcp: prompts/get: a message has no role or no content");
    }
    messages.messages.push_back({{"role", role}, {"content", content}});
  }
  return messages;
}

Result<std::vector<PromptArgument>> arguments_in(const Json& json) {
  constexpr const char* kMethod = "prompts/list";
  std::vector<PromptArgument> arguments;
  const Json list = json.value("arguments", Json::array());
  for (const Json& one : list.is_array() ? list : Json::array()) {
    const Entry entry = BAWN_TRY(entry_in(one, "name", kMethod, 0));
    arguments.push_back({.name = entry.name,
                         .description = entry.description,
                         .required = one.value("required", Json()) == true});
  }
  return arguments;
}

Result<Prompt> prompt_in(const Json& json, const RemoteClientPtr& client, bool completes) {
  Entry entry =
      BAWN_TRY(entry_in(json, "name", "prompts/list", client->options().max_description_bytes));
  Prompt prompt{.name = entry.name,
                .title = std::move(entry.title),
                .description = std::move(entry.description),
                .arguments = BAWN_TRY(arguments_in(json))};
  prompt.get = [client, name = entry.name](
                   const Context& context,
                   const Prompt::Arguments& given) -> Result<PromptMessages> {
    const Json result = BAWN_TRY(complete_result(
        *client, context,
        {.method = "prompts/get",
         .members = member_text("name", name) + "," + member_text("arguments", Json(given)),
         .name = name}));
    return messages_in(result, client->options().max_result_bytes);
  };
  if (completes) {
    prompt.complete = [client, name = entry.name](const Context& context, std::string_view argument,
                                                  std::string_view value) {
      return completed(*client, context, {{"type", "ref/prompt"}, {"name", name}}, argument, value);
    };
  }
  return prompt;
}

}  // namespace

Result<RemoteFeatures> RemoteClient::features(const Context& context) {
  auto features = read_features(context);
  if (!features) {
    forget({.method = "resources/templates/list"});
    forget({.method = "prompts/list"});
  }
  return features;
}

Result<RemoteFeatures> RemoteClient::read_features(const Context& context) {
  const auto has = [&](const char* capability) {
    return capabilities_.is_object() && capabilities_.contains(capability);
  };
  const auto self = shared_from_this();
  const bool completes = has("completions");
  RemoteFeatures features;
  if (has("resources")) {
    std::vector<ResourceTemplate> templates;
    constexpr const char* kMethod = "resources/templates/list";
    for (const Json& json :
         BAWN_TRY(pages(context, kMethod, "resourceTemplates", Lacking::IsEmpty))) {
      Entry entry =
          BAWN_TRY(entry_in(json, "uriTemplate", kMethod, options_.max_description_bytes));
      templates.push_back({.uri_template = std::move(entry.key),
                           .name = std::move(entry.name),
                           .title = std::move(entry.title),
                           .description = std::move(entry.description),
                           .mime_type = std::move(entry.mime_type)});
    }
    features.resources =
        std::make_shared<const RemoteResources>(self, std::move(templates), completes);
  }
  if (has("prompts")) {
    std::set<std::string> names;
    for (const Json& json : BAWN_TRY(pages(context, "prompts/list", "prompts"))) {
      features.prompts.push_back(BAWN_TRY(prompt_in(json, self, completes)));
      if (!names.insert(features.prompts.back().name).second) {
        return fail(ErrorCode::ToolFailed,
                    fmt::format("mcp: prompts/list: two prompts are named {}",
                                shown(features.prompts.back().name)));
      }
    }
  }
  return features;
}

}  // namespace bawn::mcp
