/// \file
/// Every way in which one field of a valid message can be wrong.
#pragma once

#include "bawn/contract/json.hpp"

#include <string>
#include <vector>

namespace bawn::test {

/// A message with one field of another type, left out, or there twice.
struct Mutation {
  std::string what;  ///< "/params/name = null", "/id left out", "/method twice"
  std::string pointer;
  enum class Kind { Replaced, LeftOut, Twice } kind = Kind::Replaced;
  contract::Json replacement;
  std::string text;
};

/// One for each field of `message`, at every depth, and each other JSON type.
[[nodiscard]] std::vector<Mutation> mutations_of(const contract::Json& message);

}  // namespace bawn::test
