/// \file
/// The strict reader: both trees accept the same texts, and what is written is read as the same.
#include "bawn/contract/json.hpp"
#include "bawn/contract/json_node.hpp"
#include "require.hpp"

#include <string_view>

using namespace bawn::contract;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = parse_json(text);
  const auto node = parse_json_node(text);
  require(json.has_value() == node.has_value(), "one reader takes what the other refuses");
  if (!json) {
    require(json.error().message().starts_with("not valid JSON: "), "an error without its prefix");
    require(json.error().message().size() < 1000, "an error that repeats its input");
    return 0;
  }
  require(to_json(*node) == *json, "two readers see two documents");
  const Json plain = Json::parse(text.begin(), text.end(), nullptr, false);
  require(plain == *json, "the quick reader sees what nlohmann's does not");
  const auto again = parse_json(dump_json(*json));
  require(again && *again == *json, "what was written is read as something else");
  require(describe(*node).size() < 2000, "a description that repeats its value");
  return 0;
}
