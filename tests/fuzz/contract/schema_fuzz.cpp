/// \file
/// The general validator: a hostile schema and a hostile value end with a verdict, within bounds.
/// The input is a schema, a line "---" and a value.
#include "bawn/contract/json_schema.hpp"
#include "require.hpp"

#include <string_view>

using namespace bawn::contract;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBorder = "\n---\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t border = text.find(kBorder);
  const auto schema = JsonSchema::compile_text(text.substr(0, border));
  if (!schema || border == std::string_view::npos) {
    return 0;
  }
  const auto value = parse_json(text.substr(border + kBorder.size()));
  if (!value) {
    return 0;
  }
  const auto verdict = schema->validate(*value);
  require(verdict.has_value() == schema->validate(*value).has_value(), "two verdicts on one value");
  if (!verdict) {
    require(!verdict.error().message().empty(), "a refusal without a reason");
  }
  return 0;
}
