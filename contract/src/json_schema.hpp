/// \file
/// What the compiler of schemas leaves for their evaluation.
#pragma once

#include "bawn/contract/json_schema.hpp"

#include <re2/re2.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bawn::contract {

namespace detail {

struct CompiledSchema {
  Json root;
  bool draft7 = false;
  /// By the pattern's text as written in the schema.
  std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>> patterns{};
  /// From a schema object with a `$ref` to its target; both inside `root`.
  std::unordered_map<const Json*, const Json*> targets{};
};

/// The pattern for RE2: ECMAScript's \uXXXX becomes \x{XXXX}. Null when RE2 does not take it.
[[nodiscard]] std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern);

/// True when `text` has the format, and for a format that is not known.
[[nodiscard]] bool has_format(std::string_view format, const std::string& text);

/// Equal as JSON Schema sees it: 1 is 1.0, and the order of members has no meaning.
[[nodiscard]] bool json_equal(const Json& left, const Json& right);

/// What a validation found.
struct Verdict {
  bool valid = true;
  bool exhausted = false;  ///< gave up at the limit of steps or depth
  std::string problem{};
};

[[nodiscard]] Verdict evaluate(const CompiledSchema& schema, const Json& value);

}  // namespace detail
}  // namespace bawn::contract
