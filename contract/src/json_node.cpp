#include "bawn/contract/json_node.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/quote.hpp"
#include "json_sax.hpp"

#include <charconv>

namespace bawn::contract {
namespace {

/// How a JsonNode is built.
struct NodeTree {
  using Value = JsonNode;
  using Kind = JsonNode::Kind;

  static JsonNode of(Kind kind) {
    JsonNode node;
    node.kind = kind;
    return node;
  }
  static JsonNode null() { return {}; }
  static JsonNode boolean(bool value) {
    JsonNode node = of(Kind::Boolean);
    node.boolean = value;
    return node;
  }
  static JsonNode floating(double value, std::string literal) {
    JsonNode node = of(Kind::Number);
    node.number = value;
    node.text = std::move(literal);
    return node;
  }
  // The lexer reports a non-negative integer as unsigned, so a signed zero was written as "-0".
  static JsonNode integer(std::int64_t value) {
    return floating(static_cast<double>(value), value == 0 ? "-0" : std::to_string(value));
  }
  static JsonNode unsigned_integer(std::uint64_t value) {
    return floating(static_cast<double>(value), std::to_string(value));
  }
  static JsonNode string(std::string value) {
    JsonNode node = of(Kind::String);
    node.text = std::move(value);
    return node;
  }
  static JsonNode object() { return of(Kind::Object); }
  static JsonNode array() { return of(Kind::Array); }
  static bool is_object(const JsonNode& node) { return node.kind == Kind::Object; }
  static const auto& members(const JsonNode& object) { return object.members; }
  static std::size_t size(const JsonNode& array) { return array.items.size(); }
  static JsonNode* append(JsonNode& array, JsonNode value) {
    return &array.items.emplace_back(std::move(value));
  }
  static JsonNode* insert(JsonNode& object, std::string key, JsonNode value) {
    return &object.members.emplace_back(std::move(key), std::move(value)).second;
  }
};

template <class Integer>
bool read_integer(const std::string& literal, Integer& value) {
  const char* const end = literal.data() + literal.size();
  const auto [stop, error] = std::from_chars(literal.data(), end, value);
  return error == std::errc() && stop == end;
}

Json number_to_json(const JsonNode& node) {
  std::int64_t number = 0;
  std::uint64_t large = 0;
  if (read_integer(node.text, number)) {
    return number;
  }
  return read_integer(node.text, large) ? Json(large) : Json(node.number);
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : members) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

Result<JsonNode> parse_json_node(std::string_view text) {
  auto node = detail::read_strictly<NodeTree>(text);
  if (!node) {
    return std::unexpected(node.error().wrap("not valid JSON"));
  }
  return node;
}

Result<JsonNode> parse_arguments(std::string_view args) {
  if (args.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return NodeTree::object();
  }
  auto node = parse_json_node(args);
  if (!node) {
    return std::unexpected(
        node.error().wrap("invalid arguments").with_payload(CallProblem::InvalidInput));
  }
  return node;
}

Json to_json(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::Null:
      return nullptr;
    case JsonNode::Kind::Boolean:
      return node.boolean;
    case JsonNode::Kind::Number:
      return number_to_json(node);
    case JsonNode::Kind::String:
      return node.text;
    case JsonNode::Kind::Array: {
      Json array = Json::array();
      for (const JsonNode& item : node.items) {
        array.push_back(to_json(item));
      }
      return array;
    }
    case JsonNode::Kind::Object: {
      Json object = Json::object();
      auto& members = object.get_ref<Json::object_t&>();
      for (const auto& [name, value] : node.members) {
        members.emplace_back(name, to_json(value));
      }
      return object;
    }
  }
  return nullptr;
}

namespace {

constexpr std::size_t kShown = 256;  // bytes of a value in a message

std::string cut_mark(std::string_view text) {
  return text.size() <= kShown ? "" : fmt::format("… ({} bytes)", text.size());
}

}  // namespace

std::string describe(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::Null:
      return "null";
    case JsonNode::Kind::Boolean:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::Number:
      return std::string(text_start(node.text, kShown)) + cut_mark(node.text);
    case JsonNode::Kind::String:
      return quote(text_start(node.text, kShown)) + cut_mark(node.text);
    case JsonNode::Kind::Array:
      return "array";
    case JsonNode::Kind::Object:
      return "object";
  }
  return "null";
}

}  // namespace bawn::contract
