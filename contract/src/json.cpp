#include "bawn/contract/json.hpp"

#include "json_sax.hpp"

namespace bawn::contract {
namespace {

/// How a Json is built. Members are appended directly: Json's own insertion searches for the name
/// once more, and the reader has already done so.
struct JsonTree {
  using Value = Json;
  static Json null() { return nullptr; }
  static Json boolean(bool value) { return value; }
  static Json integer(std::int64_t value) { return value; }
  static Json unsigned_integer(std::uint64_t value) { return value; }
  static Json floating(double value, const std::string& /*literal*/) { return value; }
  static Json string(std::string value) { return value; }
  static Json object() { return Json::object(); }
  static Json array() { return Json::array(); }
  static bool is_object(const Json& value) { return value.is_object(); }
  static const Json::object_t& members(const Json& object) {
    return object.get_ref<const Json::object_t&>();
  }
  static std::size_t size(const Json& array) { return array.size(); }
  static Json* append(Json& array, Json value) {
    return &array.get_ref<Json::array_t&>().emplace_back(std::move(value));
  }
  static Json* insert(Json& object, std::string key, Json value) {
    auto& members = object.get_ref<Json::object_t&>();
    return &members.emplace_back(std::move(key), std::move(value)).second;
  }
};

}  // namespace

namespace detail {

std::string parser_text(std::string_view what) {
  if (const auto head = what.find("] "); head != std::string_view::npos) {
    what.remove_prefix(head + 2);
  }
  if (const auto position = what.find(": ");
      what.starts_with("parse error at ") && position != std::string_view::npos) {
    what.remove_prefix(position + 2);
  }
  // "number overflow parsing '…'" repeats the number too.
  constexpr std::size_t kShown = 120;
  return std::string(what.substr(0, what.find("; last read:")).substr(0, kShown));
}

}  // namespace detail

Result<Json> parse_json(std::string_view text) {
  auto value = detail::read_strictly<JsonTree>(text);
  if (!value) {
    return std::unexpected(value.error().wrap("not valid JSON"));
  }
  return value;
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bawn::contract
