// The dispatcher's methods for resources, prompts and completions.
// Source: MCP, server features.

#include "dispatcher.hpp"
#include "headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::Error;
using contract::ErrorCode;

void add_text(Json& object, const char* name, const std::string& value) {
  if (!value.empty()) {
    object[name] = value;
  }
}

Json listed(const contract::Resource& resource, const WireFeatures& features) {
  Json entry = {{"uri", resource.uri}, {"name", resource.name}};
  add_text(entry, "title", features.structured ? resource.title : "");
  add_text(entry, "description", resource.description);
  add_text(entry, "mimeType", resource.mime_type);
  if (resource.size && features.annotations) {
    entry["size"] = *resource.size;
  }
  return entry;
}

Json listed(const contract::ResourceTemplate& family, const WireFeatures& features) {
  Json entry = {{"uriTemplate", family.uri_template}, {"name", family.name}};
  add_text(entry, "title", features.structured ? family.title : "");
  add_text(entry, "description", family.description);
  add_text(entry, "mimeType", family.mime_type);
  return entry;
}

Json listed(const Prompt& prompt, const WireFeatures& features) {
  Json entry = {{"name", prompt.name}};
  add_text(entry, "title", features.structured ? prompt.title : "");
  add_text(entry, "description", prompt.description);
  if (!prompt.arguments.empty()) {
    entry["arguments"] = Json::array();
  }
  for (const PromptArgument& argument : prompt.arguments) {
    Json one = {{"name", argument.name}};
    add_text(one, "description", argument.description);
    one["required"] = argument.required;
    entry["arguments"].push_back(std::move(one));
  }
  return entry;
}

Json contents(const contract::ResourceContents& part) {
  Json entry = {{"uri", part.uri}};
  add_text(entry, "mimeType", part.mime_type);
  entry[part.text ? "text" : "blob"] = part.text ? part.bytes : encode_base64(part.bytes);
  return entry;
}

/// -32002 is what the older clients expect of a resource that is not there.
RpcError failed(const Error& error, const Era& era, const std::string& uri) {
  if (error.code() == ErrorCode::NotFound || error.code() == ErrorCode::InvalidArgument) {
    return {.code = era.modern ? RpcCode::InvalidParams : RpcCode::ResourceNotFound,
            .message = "Resource not found",
            .data = Json{{"uri", uri}}};
  }
  if (const auto* const missing = error.find<MissingCapability>(); missing && era.modern) {
    return {.code = RpcCode::MissingCapability,
            .message = error.message(),
            .data = Json{{"requiredCapabilities", missing->required}}};
  }
  return {.code = RpcCode::InternalError, .message = error.message()};
}

const Prompt* find_prompt(const ServerOptions& options, std::string_view name) {
  const auto found = std::ranges::find_if(
      options.prompts, [&](const Prompt& prompt) { return prompt.name == name; });
  return found == options.prompts.end() ? nullptr : &*found;
}

std::expected<Prompt::Arguments, std::string> arguments_of(const Prompt& prompt,
                                                           std::string_view raw) {
  Prompt::Arguments arguments;
  const auto parsed = contract::parse_json(raw);
  if (!parsed || !parsed->is_object()) {
    return std::unexpected("arguments must be an object");
  }
  for (const auto& [name, value] : parsed->items()) {
    if (!value.is_string()) {
      return std::unexpected(fmt::format("argument {} must be a string", shown(name)));
    }
    arguments[name] = value.get<std::string>();
  }
  for (const PromptArgument& argument : prompt.arguments) {
    if (argument.required && !arguments.contains(argument.name)) {
      return std::unexpected(fmt::format("argument {} is required", shown(argument.name)));
    }
  }
  return arguments;
}

Json completion(std::vector<std::string> values) {
  constexpr std::size_t kMost = 100;
  const std::size_t total = values.size();
  values.resize(std::min(total, kMost));
  return {{"completion",
           {{"values", std::move(values)}, {"total", total}, {"hasMore", total > kMost}}}};
}

}  // namespace

void Dispatcher::list_resources(Request& request, std::vector<JobPtr>& jobs) {
  if (asks_for_page(request)) {
    return;
  }
  work(request, jobs, private_list(),
       [provider = core_->options.resources,
        era = request.era](const Context& context) -> std::expected<Json, RpcError> {
         const auto resources = provider->list(context);
         if (!resources) {
           return std::unexpected(failed(resources.error(), era, {}));
         }
         Json list = Json::array();
         for (const contract::Resource& resource : *resources) {
           list.push_back(listed(resource, era.features()));
         }
         return Json{{"resources", std::move(list)}};
       });
}

void Dispatcher::list_templates(Request& request, std::vector<JobPtr>& jobs) {
  if (asks_for_page(request)) {
    return;
  }
  work(request, jobs, Caching{.ttl_ms = core_->options.list_ttl.count()},
       [provider = core_->options.resources,
        era = request.era](const Context&) -> std::expected<Json, RpcError> {
         Json list = Json::array();
         for (const contract::ResourceTemplate& family : provider->templates()) {
           list.push_back(listed(family, era.features()));
         }
         return Json{{"resourceTemplates", std::move(list)}};
       });
}

void Dispatcher::read_resource(Request& request, std::vector<JobPtr>& jobs) {
  const auto raw = request.params.find("uri");
  const auto uri = raw ? string_of(*raw) : std::nullopt;
  if (!uri) {
    refuse(request, RpcCode::InvalidParams, "uri must be a string");
    return;
  }
  std::string bound = bound_of(request, *uri, {});
  if (goes_on(request, bound)) {
    return;
  }
  work(
      request, jobs, private_list(),
      [provider = core_->options.resources, era = request.era,
       uri = *uri](const Context& context) -> std::expected<Json, RpcError> {
        const auto parts = provider->read(context, uri);
        if (!parts) {
          return std::unexpected(failed(parts.error(), era, uri));
        }
        Json list = Json::array();
        for (const contract::ResourceContents& part : *parts) {
          list.push_back(contents(part));
        }
        return Json{{"contents", std::move(list)}};
      },
      std::move(bound));
}

void Dispatcher::subscribe(Request& request, std::vector<JobPtr>& /*jobs*/) {
  const auto raw = request.params.find("uri");
  const auto uri = raw ? string_of(*raw) : std::nullopt;
  if (!uri) {
    refuse(request, RpcCode::InvalidParams, "uri must be a string");
    return;
  }
  if (!peer_->subscribe(*uri)) {
    refuse(request, RpcCode::InvalidParams,
           fmt::format("at most {} resources can be subscribed to", kMostUris));
    return;
  }
  reply(request, Json::object());
}

void Dispatcher::unsubscribe(Request& request, std::vector<JobPtr>& /*jobs*/) {
  const auto raw = request.params.find("uri");
  const auto uri = raw ? string_of(*raw) : std::nullopt;
  if (!uri) {
    refuse(request, RpcCode::InvalidParams, "uri must be a string");
    return;
  }
  peer_->unsubscribe(*uri);
  reply(request, Json::object());
}

void Dispatcher::list_prompts(Request& request, std::vector<JobPtr>& /*jobs*/) {
  if (asks_for_page(request)) {
    return;
  }
  Json list = Json::array();
  for (const Prompt& prompt : core_->options.prompts) {
    list.push_back(listed(prompt, request.era.features()));
  }
  reply(request, core_->finished(Json{{"prompts", std::move(list)}}, request.era,
                                 Caching{.ttl_ms = core_->options.list_ttl.count()}));
}

void Dispatcher::get_prompt(Request& request, std::vector<JobPtr>& jobs) {
  const auto raw = request.params.find("name");
  const auto name = raw ? string_of(*raw) : std::nullopt;
  const Prompt* const prompt = name ? find_prompt(core_->options, *name) : nullptr;
  if (prompt == nullptr) {
    refuse(request, RpcCode::InvalidParams,
           name ? "Unknown prompt: " + shown(*name) : "name must be a string");
    return;
  }
  const std::string_view given = request.params.find("arguments").value_or("{}");
  auto arguments = arguments_of(*prompt, given);
  if (!arguments) {
    refuse(request, RpcCode::InvalidParams, arguments.error());
    return;
  }
  std::string bound = bound_of(request, *name, given);
  if (goes_on(request, bound)) {
    return;
  }
  work(
      request, jobs, std::nullopt,
      [core = core_, prompt, era = request.era,
       arguments = *std::move(arguments)](const Context& context) -> std::expected<Json, RpcError> {
        const auto got = prompt->get(context, arguments);
        if (!got) {
          return std::unexpected(
              got.error().code() == ErrorCode::InvalidArgument
                  ? RpcError{.code = RpcCode::InvalidParams, .message = got.error().message()}
                  : failed(got.error(), era, {}));
        }
        Json result = {{"messages", got->messages}};
        add_text(result, "description", got->description);
        return result;
      },
      std::move(bound));
}

void Dispatcher::complete(Request& request, std::vector<JobPtr>& jobs) {
  const auto reference = contract::parse_json(request.params.find("ref").value_or("null"));
  const auto argument = contract::parse_json(request.params.find("argument").value_or("null"));
  const auto text = [](const contract::Result<Json>& object, const char* name) {
    const Json value = object && object->is_object() ? object->value(name, Json()) : Json();
    return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
  };
  const auto type = text(reference, "type");
  const auto name = text(argument, "name");
  const auto value = text(argument, "value");
  if (!type || !name || !value) {
    refuse(request, RpcCode::InvalidParams,
           "ref.type, argument.name and argument.value must be strings");
    return;
  }
  if (*type == "ref/prompt") {
    const Prompt* const prompt = find_prompt(core_->options, text(reference, "name").value_or(""));
    if (prompt == nullptr) {
      refuse(request, RpcCode::InvalidParams, "Unknown prompt");
      return;
    }
    work(request, jobs, std::nullopt,
         [core = core_, prompt, name = *name,
          value = *value](const Context& context) -> std::expected<Json, RpcError> {
           return completion(prompt->complete ? prompt->complete(context, name, value)
                                              : std::vector<std::string>());
         });
    return;
  }
  const auto uri = text(reference, "uri");
  if (*type != "ref/resource" || !uri || core_->options.resources == nullptr) {
    refuse(request, RpcCode::InvalidParams, "ref.type must be ref/prompt or ref/resource");
    return;
  }
  work(request, jobs, std::nullopt,
       [provider = core_->options.resources, uri = *uri, name = *name,
        value = *value](const Context& context) -> std::expected<Json, RpcError> {
         return completion(provider->complete(context, uri, name, value));
       });
}

}  // namespace bawn::mcp
