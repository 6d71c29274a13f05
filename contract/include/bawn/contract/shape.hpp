/// \file
/// The argument shape (C-20): what a described type looks like from outside, before any schema
/// dialect is chosen. `describe.hpp` makes shapes from C++ types; a program may also build one.
#pragma once

#include "bawn/contract/json.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::contract {

enum class ShapeType { Any, Boolean, Integer, Number, String, Array, Map, Object };

struct ShapeField;

/// One type of the shape.
struct Shape {
  ShapeType type = ShapeType::Any;
  std::string format{};                    ///< of a string, e.g. "date-time"
  std::vector<Json> choices{};             ///< allowed values, for enumerated types
  std::shared_ptr<const Shape> element{};  ///< of an array or a map
  std::vector<ShapeField> fields{};        ///< of an object, in order
};

/// One member of an object.
struct ShapeField {
  std::string name{};
  std::string description{};
  std::vector<Json> choices{};      ///< typed enum values, in declaration order; empty = none
  bool optional = false;            ///< may be left out
  bool nullable = false;            ///< may be null; said only by strict schemas
  std::optional<double> minimum{};  ///< of a number, inclusive
  std::optional<double> maximum{};  ///< of a number, inclusive
  std::optional<Json> default_value{};
  Shape shape{};
};

}  // namespace bawn::contract
