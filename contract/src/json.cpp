#include "bawn/contract/json.hpp"

#include "json_depth.hpp"
#include "json_sax.hpp"

#include <vector>

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

std::string dump_plain(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A container that is written in part.
struct Opened {
  const Json* container;
  Json::const_iterator next;
};

// Json's own writer calls itself for each level, so that a deep value takes all of the stack.
std::string dump_deep(const Json& root) {
  std::string out;
  std::vector<Opened> opened;
  const auto write = [&](const Json& value) {
    if (value.is_structured()) {
      out += value.is_array() ? '[' : '{';
      opened.push_back({.container = &value, .next = value.begin()});
    } else {
      out += dump_plain(value);
    }
  };
  write(root);
  while (!opened.empty()) {
    Opened& last = opened.back();
    const bool named = last.container->is_object();
    if (last.next == last.container->end()) {
      out += named ? '}' : ']';
      opened.pop_back();
      continue;
    }
    out += last.next == last.container->begin() ? "" : ",";
    out += named ? dump_plain(last.next.key()) + ":" : "";
    write(*last.next++);
  }
  return out;
}

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
  return detail::is_deeper_than(value, kMaxJsonDepth) ? dump_deep(value) : dump_plain(value);
}

}  // namespace bawn::contract
