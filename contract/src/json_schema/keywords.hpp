/// \file
/// The keywords that are understood, and what the value of each must be.
#pragma once

#include "bawn/contract/json.hpp"

#include <span>
#include <string_view>
#include <utility>

namespace bawn::contract::detail {

/// What the value of a keyword must be.
enum class Form {
  Schema,
  SchemaList,
  SchemaMap,
  PatternMap,    ///< a SchemaMap whose names are patterns
  Items,         ///< a schema, or under draft-07 a list of them
  Dependencies,  ///< draft-07: names to schemas or to lists of names
  NamesMap,
  Names,
  List,
  Type,
  Count,
  Number,
  Positive,
  Flag,
  Text,
  Pattern,
  Refused,
};

/// Every keyword that is checked; others say nothing about a value.
[[nodiscard]] std::span<const std::pair<std::string_view, Form>> keywords() noexcept;

/// True for a list of strings.
[[nodiscard]] bool is_names(const Json& value);

/// True when the value has the form, which is one of a keyword that holds no schema.
[[nodiscard]] bool has_plain_form(const Json& value, Form form);

}  // namespace bawn::contract::detail
