#include "message.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::mcp {
namespace {

std::unexpected<Refusal> refuse(std::optional<RequestId> id, RpcCode code, std::string why) {
  return std::unexpected(
      Refusal{.id = std::move(id), .error = {.code = code, .message = std::move(why)}});
}

std::expected<Decoded, Refusal> message_from(RawMessage raw) {
  Message message;
  if (const auto id = raw.members.find("id")) {
    message.id = RequestId::from_raw(*id);
    if (!message.id) {
      return refuse({}, RpcCode::InvalidRequest, "id must be a string or a 64-bit integer");
    }
  }
  const auto version = raw.members.find("jsonrpc");
  if (!version || string_of(*version) != "2.0") {
    return refuse(message.id, RpcCode::InvalidRequest, "jsonrpc must be \"2.0\"");
  }
  const auto method = raw.members.find("method");
  if (!method && (raw.members.contains("result") || raw.members.contains("error"))) {
    message.answer =
        ClientAnswer{.result = raw.members.find("result"), .error = raw.members.find("error")};
    return Decoded{.message = std::move(message), .batch = {}};
  }
  auto name = method ? string_of(*method) : std::nullopt;
  if (!name) {
    return refuse(message.id, RpcCode::InvalidRequest, "method must be a string");
  }
  if (const auto params = raw.members.find("params"); params && !is_raw_object(*params)) {
    return refuse(message.id, RpcCode::InvalidParams, "params must be an object");
  }
  message.method = *std::move(name);
  message.params = std::move(raw.params);
  return Decoded{.message = std::move(message), .batch = {}};
}

/// A refusal's sentence may repeat a name of the client's at any length.
std::string shortened(const std::string& sentence) {
  constexpr std::size_t kLongest = 256;
  return sentence.size() <= kLongest ? sentence : sentence.substr(0, kLongest) + "…";
}

/// The way for text that scan_message() leaves alone: the strict reader decides.
std::expected<Decoded, Refusal> decode_slowly(std::string_view text) {
  // Two bytes are the least that a further value takes, so short text needs no count.
  if (text.size() / 2 > kMaxValues && count_values(text) > kMaxValues) {
    return refuse(sniff_id(text), RpcCode::InvalidRequest,
                  fmt::format("a message may have at most {} JSON values", kMaxValues));
  }
  const auto tree = contract::parse_json(text);
  if (!tree) {
    return refuse(sniff_id(text), RpcCode::ParseError, shortened(tree.error().message()));
  }
  if (tree->is_object()) {
    return message_from(raw_message(text));
  }
  if (!tree->is_array()) {
    return refuse({}, RpcCode::InvalidRequest, "a message must be a JSON object");
  }
  if (tree->empty() || tree->size() > kMaxBatch) {
    return refuse({}, RpcCode::InvalidRequest,
                  fmt::format("a batch must have 1 to {} messages", kMaxBatch));
  }
  return Decoded{.message = {}, .batch = raw_elements(text)};
}

}  // namespace

std::optional<RequestId> sniff_id(std::string_view text) {
  const auto id = raw_members(text).find("id");
  return id ? RequestId::from_raw(*id) : std::nullopt;
}

std::expected<Decoded, Refusal> decode(std::string_view text) {
  auto raw = scan_message(text, kMaxValues);
  return raw ? message_from(*std::move(raw)) : decode_slowly(text);
}

}  // namespace bawn::mcp
