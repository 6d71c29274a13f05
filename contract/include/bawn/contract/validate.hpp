/// \file
/// Checks a call's arguments against a described type's schema (C-40..C-47). Only the first problem
/// is told, in a fixed order, so that a model sees one thing to mend.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json_node.hpp"
#include "bawn/contract/schema.hpp"

#include <string>
#include <string_view>

namespace bawn::contract {

/// The payload of a validation error: `error.find<ValidationProblem>()`.
struct ValidationProblem {
  std::string path{};  ///< "tags[1]" or "nested.deep"; empty at the root
  std::string message{};
};

/// Checks `value` and everything below it.
///
/// Order at one value: null, enum, type, bounds, then for an object its missing required members in
/// schema order and its present members in byte order of their names, for an array its elements.
/// Unknown members pass unless the schema has `no_additional` or `additional`.
///
/// Errors: InvalidArgument, "invalid arguments: <path>: <message>", with a ValidationProblem.
/// Threads: thread-safe.
[[nodiscard]] Result<> validate(const Schema& schema, const JsonNode& value);

/// `parse_arguments`, then `validate`.
[[nodiscard]] Result<> validate_arguments(const Schema& schema, std::string_view args);

}  // namespace bawn::contract
