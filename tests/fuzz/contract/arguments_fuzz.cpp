/// \file
/// The validator of described structs and the decoder: what the one accepts the other can decode,
/// and the general validator agrees about the same schema.
#include "bawn/contract/decode.hpp"
#include "bawn/contract/encode.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/validate.hpp"
#include "require.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace bawn::contract;
using bawn::fuzz::require;

namespace {

struct Inner {
  bool deep = false;
  std::optional<double> ratio{};
  static constexpr auto describe() {
    return fields(field("deep", &Inner::deep), field("ratio", &Inner::ratio));
  }
};

struct Args {
  std::string path{};
  std::string level = "low";
  int count = 1;
  std::vector<std::string> tags{};
  std::optional<Inner> inner{};
  std::map<std::string, int> labels{};
  static constexpr auto describe() {
    return fields(field("path", &Args::path),
                  field("level", &Args::level).one_of("low,high").optional(),
                  field("count", &Args::count).optional().range(-10, 1000),
                  field("tags", &Args::tags).optional(), field("inner", &Args::inner),
                  field("labels", &Args::labels).optional());
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Schema schema = schema_of<Args>({.no_additional = true}).value();
  static const JsonSchema general = JsonSchema::compile(to_json(schema)).value();
  const auto node = parse_arguments(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!node) {
    require(node.error().message().starts_with("invalid arguments: "),
            "an error without its prefix");
    return 0;
  }
  const auto valid = validate(schema, *node);
  const auto same = general.validate(to_json(*node));
  require(valid.has_value() == same.has_value(), "two validators disagree about one schema");
  if (!valid) {
    require(valid.error().find<ValidationProblem>() != nullptr, "an error without its path");
    return 0;
  }
  const auto args = decode<Args>(*node, {.reject_unknown = true});
  if (args) {
    const auto written = encode(*args);
    require(written && validate_arguments(schema, dump_json(*written)).has_value(),
            "a decoded value that is written as invalid");
  } else {  // the decoder is narrower: map values beyond an int
    require(node->find("labels") != nullptr, "valid arguments that cannot be decoded");
  }
  return 0;
}
