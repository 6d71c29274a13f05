/// \file
/// The canonicaliser: its text is JSON of the same value, canonical already, and does not depend on
/// the order of members.
#include "bawn/contract/canonical.hpp"
#include "bawn/contract/json.hpp"
#include "require.hpp"

#include <algorithm>
#include <string_view>

using namespace bawn::contract;
using bawn::fuzz::require;

namespace {

Json with_members_reversed(const Json& value) {
  if (value.is_array()) {
    Json array = Json::array();
    for (const Json& item : value) {
      array.push_back(with_members_reversed(item));
    }
    return array;
  }
  if (!value.is_object()) {
    return value;
  }
  Json object = Json::object();
  for (auto member = value.rbegin(); member != value.rend(); ++member) {
    object[member.key()] = with_members_reversed(member.value());
  }
  return object;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value) {
    return 0;
  }
  const auto canonical = canonical_json(*value);
  require(canonical.has_value(), "a document that was read cannot be written");
  const auto again = parse_json(*canonical);
  require(again.has_value(), "canonical text that is no JSON");
  require(canonical_json(*again) == *canonical, "canonical text that changes when read again");
  require(canonical_json(with_members_reversed(*value)) == *canonical,
          "the order of members shows");
  return 0;
}
