#include "message.hpp"

#include "raw_json.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::mcp {
namespace {

std::unexpected<Refusal> refuse(std::optional<RequestId> id, RpcCode code, std::string why) {
  return std::unexpected(
      Refusal{.id = std::move(id), .error = {.code = code, .message = std::move(why)}});
}

Json* find(Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::expected<Message, Refusal> message_from(std::string_view text, Json tree) {
  if (!tree.is_object()) {
    return refuse({}, RpcCode::InvalidRequest, "a message must be a JSON object");
  }
  Message message;
  if (const Json* const id = find(tree, "id")) {
    message.id = RequestId::from_json(*id);
    if (!message.id) {
      return refuse({}, RpcCode::InvalidRequest, "id must be a string or a 64-bit integer");
    }
  }
  const Json* const version = find(tree, "jsonrpc");
  if (version == nullptr || *version != "2.0") {
    return refuse(message.id, RpcCode::InvalidRequest, "jsonrpc must be \"2.0\"");
  }
  Json* const method = find(tree, "method");
  if (method == nullptr && (tree.contains("result") || tree.contains("error"))) {
    message.ignored = true;
    return message;
  }
  if (method == nullptr || !method->is_string()) {
    return refuse(message.id, RpcCode::InvalidRequest, "method must be a string");
  }
  message.method = std::move(method->get_ref<std::string&>());
  if (Json* const params = find(tree, "params")) {
    if (!params->is_object()) {
      return refuse(message.id, RpcCode::InvalidParams, "params must be an object");
    }
    message.params = std::move(*params);
    if (message.params.contains("arguments")) {
      const auto raw_params = raw_member(text, "params");
      message.arguments = raw_member(raw_params.value_or(""), "arguments").value_or("");
    }
  }
  return message;
}

}  // namespace

std::optional<RequestId> sniff_id(std::string_view text) {
  const auto raw = raw_member(text, "id");
  if (!raw) {
    return std::nullopt;
  }
  const auto value = contract::parse_json(*raw);
  return value ? RequestId::from_json(*value) : std::nullopt;
}

std::expected<Decoded, Refusal> decode(std::string_view text) {
  // Two bytes are the least that a further value takes, so short text needs no count.
  if (text.size() / 2 > kMaxValues && count_values(text) > kMaxValues) {
    return refuse(sniff_id(text), RpcCode::InvalidRequest,
                  fmt::format("a message may have at most {} JSON values", kMaxValues));
  }
  auto tree = contract::parse_json(text);
  if (!tree) {
    return refuse(sniff_id(text), RpcCode::ParseError, tree.error().message());
  }
  Decoded decoded;
  if (!tree->is_array()) {
    auto message = message_from(text, *std::move(tree));
    if (!message) {
      return std::unexpected(std::move(message).error());
    }
    decoded.message = *std::move(message);
    return decoded;
  }
  if (tree->empty() || tree->size() > kMaxBatch) {
    return refuse({}, RpcCode::InvalidRequest,
                  fmt::format("a batch must have 1 to {} messages", kMaxBatch));
  }
  decoded.batch = raw_elements(text);
  return decoded;
}

}  // namespace bawn::mcp
