/// \file
/// The schema tree of described types: generated from a shape, written as JSON Schema, and what
/// `validate` checks arguments against. Supplied schemas of any other form are for the general
/// validator.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/shape.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::contract {

/// What a tool without arguments serves (C-4), byte for byte.
inline constexpr std::string_view kNoArgsSchema =
    R"({"type":"object","properties":{},"required":[]})";

/// A schema object. A default one accepts anything.
struct Schema {
  std::string type{};     ///< a JSON Schema type; empty accepts anything
  bool nullable = false;  ///< the type is the union [type, "null"]
  std::string description{};
  std::string format{};
  std::optional<std::vector<Json>> choices{};  ///< `enum`
  /// Both are written even when empty, if set (C-22).
  std::optional<std::vector<std::pair<std::string, Schema>>> properties{};
  std::optional<std::vector<std::string>> required{};
  std::shared_ptr<const Schema> items{};
  std::shared_ptr<const Schema> additional{};
  bool no_additional = false;  ///< beats `additional` (C-30)
  std::optional<double> minimum{};
  std::optional<double> maximum{};
  std::optional<Json> default_value{};
};

/// How a schema is generated.
struct SchemaOptions {
  /// Every field required, nullable fields as unions, unknown members refused, no maps (C-25).
  bool strict = false;
  /// Refuses unknown members in every object of a schema that is not strict.
  bool no_additional = false;
};

/// The schema of an object shape (C-20..C-27).
///
/// Errors: InvalidArgument: the root "must be a struct", or a map under "strict".
/// Threads: thread-safe.
[[nodiscard]] Result<Schema> make_schema(const Shape& shape, const SchemaOptions& options = {});

/// The JSON Schema text's value. Members in this order, each only when it says something: type,
/// description, format, enum, properties, required, items, additionalProperties, minimum, maximum,
/// default (C-21; the last three are ours).
[[nodiscard]] Json to_json(const Schema& schema);

}  // namespace bawn::contract
