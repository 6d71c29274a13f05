/// \file
/// What the compiler of schemas leaves for their evaluation.
#pragma once

#include "bawn/contract/json.hpp"

#include <re2/re2.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

namespace bawn::contract::detail {

/// A document whose keywords all have the form that the evaluation expects.
struct CompiledSchema {
  Json root;
  bool draft7 = false;
  /// Some schema asks for what no other keyword looked at.
  bool has_unevaluated = false;
  /// By the pattern's text as written in the schema.
  std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>> patterns{};
  /// From a schema object with a `$ref` to its target; both inside `root`.
  std::unordered_map<const Json*, const Json*> targets{};
};

}  // namespace bawn::contract::detail
