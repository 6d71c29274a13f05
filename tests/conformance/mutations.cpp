#include "mutations.hpp"

#include <array>
#include <utility>

namespace bawn::test {
namespace {

using contract::Json;
using Pointer = Json::json_pointer;

void collect_pointers(const Json& value, const Pointer& at, std::vector<Pointer>& found) {
  if (!value.is_structured()) {
    return;
  }
  for (const auto& [key, inner] : value.items()) {
    const Pointer place =
        value.is_array() ? at / static_cast<std::size_t>(std::stoul(key)) : at / key;
    found.push_back(place);
    collect_pointers(inner, place, found);
  }
}

std::vector<Json> values_of_each_type() {
  return {nullptr,          true,           7, 1.5, "text", std::string(100'000, 'x'),
          Json::array({1}), {{"other", 1}}, -1};
}

/// Two values are of one type when a schema cannot tell them apart by it.
bool same_type(const Json& a, const Json& b) {
  return a.type() == b.type() || (a.is_number_integer() && b.is_number_integer());
}

/// The text of `message` with the member at `place` written twice; empty for an element of an
/// array.
std::string with_member_twice(const Json& message, const Pointer& place) {
  Json marked = message;
  Json& parent = marked[place.parent_pointer()];
  if (!parent.is_object()) {
    return {};
  }
  constexpr const char* kMark = "\u2603";
  const std::string key = place.back();
  parent[kMark] = message[place];
  std::string text = contract::dump_json(marked);
  const std::string wanted = contract::dump_json(Json(kMark));
  text.replace(text.find(wanted), wanted.size(), contract::dump_json(Json(key)));
  return text;
}

void remove(Json& message, const Pointer& place) {
  Json& parent = message[place.parent_pointer()];
  if (parent.is_array()) {
    parent.erase(std::stoul(place.back()));
  } else {
    parent.erase(place.back());
  }
}

}  // namespace

std::vector<Mutation> mutations_of(const Json& message) {
  std::vector<Pointer> places;
  collect_pointers(message, Pointer(), places);
  std::vector<Mutation> all;
  for (const Pointer& place : places) {
    const std::string at = place.to_string();
    for (const Json& value : values_of_each_type()) {
      if (same_type(value, message[place]) && !value.is_string()) {
        continue;
      }
      Json changed = message;
      changed[place] = value;
      all.push_back({.what = at + " = " + contract::dump_json(value).substr(0, 20),
                     .pointer = at,
                     .kind = Mutation::Kind::Replaced,
                     .replacement = value,
                     .text = contract::dump_json(changed)});
    }
    Json shorter = message;
    remove(shorter, place);
    all.push_back({.what = at + " left out",
                   .pointer = at,
                   .kind = Mutation::Kind::LeftOut,
                   .replacement = nullptr,
                   .text = contract::dump_json(shorter)});
    if (std::string text = with_member_twice(message, place); !text.empty()) {
      all.push_back({.what = at + " twice",
                     .pointer = at,
                     .kind = Mutation::Kind::Twice,
                     .replacement = nullptr,
                     .text = std::move(text)});
    }
  }
  return all;
}

}  // namespace bawn::test
