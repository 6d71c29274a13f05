/// \file
/// Codecs of the standard library's types: optional, vector, array, map, durations, time points,
/// bytes, and types with an own text form.
#pragma once

#include "bawn/contract/codec.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::contract {

namespace detail {

/// Standard alphabet with padding.
[[nodiscard]] std::string to_base64(const std::vector<std::byte>& bytes);
/// Standard alphabet with padding (RFC 4648, section 4); none when it is anything else.
[[nodiscard]] std::optional<std::vector<std::byte>> from_base64(std::string_view text);

using Nanoseconds = std::chrono::sys_time<std::chrono::nanoseconds>;
/// RFC 3339 in UTC, with as many digits of the fraction as are needed.
[[nodiscard]] std::string to_date_time(Nanoseconds time);
/// RFC 3339 with any offset; none when it is not, or outside 1678..2261.
[[nodiscard]] std::optional<Nanoseconds> from_date_time(std::string_view text);

/// The grammars of RFC 3339 alone, for any year from 0 to 9999.
[[nodiscard]] bool is_date_time(std::string_view text);
[[nodiscard]] bool is_date(std::string_view text);
[[nodiscard]] bool is_time(std::string_view text);

/// A type whose text form is found beside it: `std::string to_text(const T&)` and
/// `Result<> from_text(std::string_view, T&)`.
template <class T>
concept Text = requires(const T& value, T& target, std::string_view text) {
  { to_text(value) } -> std::convertible_to<std::string>;
  { from_text(text, target) } -> std::same_as<Result<>>;
};

/// The shape of an array or map whose elements are T.
template <class T>
Result<Shape> container_shape(ShapeType type, ShapeStack& stack) {
  Shape shape{.type = type};
  shape.element = std::make_shared<const Shape>(BAWN_TRY(Codec<T>::shape(stack)));
  return shape;
}

}  // namespace detail

/// May be left out, and may be null under a strict schema; empty means either.
template <class T>
struct Codec<std::optional<T>> {
  static Result<Shape> shape(ShapeStack& stack) { return Codec<T>::shape(stack); }
  static Result<> decode(std::optional<T>& value, const JsonNode& node, DecodeState& state) {
    if (node.kind == JsonNode::Kind::Null) {
      value.reset();
      return {};
    }
    return Codec<T>::decode(value.emplace(), node, state);
  }
  static Result<Json> encode(const std::optional<T>& value) {
    return value ? Codec<T>::encode(*value) : Result<Json>(nullptr);
  }
};

/// An array of any length. What was in `value` before is replaced, not appended to.
template <class T>
struct Codec<std::vector<T>> {
  static Result<Shape> shape(ShapeStack& stack) {
    return detail::container_shape<T>(ShapeType::Array, stack);
  }
  static Result<> decode(std::vector<T>& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::Array) {
      return state.expected("array", node);
    }
    value.clear();
    value.reserve(node.items.size());
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      T item{};
      BAWN_TRY(state.in_item(i, [&] { return Codec<T>::decode(item, node.items[i], state); }));
      value.push_back(std::move(item));
    }
    return {};
  }
  static Result<Json> encode(const std::vector<T>& value) {
    Json array = Json::array();
    for (const auto& item : value) {
      array.push_back(BAWN_TRY(Codec<T>::encode(item)));
    }
    return array;
  }
};

/// An array of exactly N items.
template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
  static Result<Shape> shape(ShapeStack& stack) {
    return detail::container_shape<T>(ShapeType::Array, stack);
  }
  static Result<> decode(std::array<T, N>& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::Array) {
      return state.expected("array", node);
    }
    if (node.items.size() != N) {
      return state.problem("expected exactly " + std::to_string(N) + " items, got " +
                           std::to_string(node.items.size()));
    }
    for (std::size_t i = 0; i < N; ++i) {
      BAWN_TRY(state.in_item(i, [&] { return Codec<T>::decode(value[i], node.items[i], state); }));
    }
    return {};
  }
  static Result<Json> encode(const std::array<T, N>& value) {
    Json array = Json::array();
    for (const auto& item : value) {
      array.push_back(BAWN_TRY(Codec<T>::encode(item)));
    }
    return array;
  }
};

/// An object whose member names are data. Not expressible in a strict schema (C-25). Encoded in the
/// map's order.
template <class K, class T>
struct Codec<std::map<K, T>> {
  static_assert(std::same_as<K, std::string>, "unsupported map key: it must be std::string");
  static Result<Shape> shape(ShapeStack& stack) {
    return detail::container_shape<T>(ShapeType::Map, stack);
  }
  static Result<> decode(std::map<K, T>& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::Object) {
      return state.expected("object", node);
    }
    value.clear();
    for (const auto& [name, member] : node.members) {
      T item{};
      BAWN_TRY(state.in_member(name, [&] { return Codec<T>::decode(item, member, state); }));
      value.insert_or_assign(name, std::move(item));
    }
    return {};
  }
  static Result<Json> encode(const std::map<K, T>& value) {
    Json object = Json::object();
    for (const auto& [name, item] : value) {
      object[name] = BAWN_TRY(Codec<T>::encode(item));
    }
    return object;
  }
};

/// The count of its own unit; name the unit in the field's name or description.
template <detail::Integer Rep, class Period>
struct Codec<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static Result<Shape> shape(ShapeStack& stack) { return Codec<Rep>::shape(stack); }
  static Result<> decode(Duration& value, const JsonNode& node, DecodeState& state) {
    Rep count = 0;
    BAWN_TRY(Codec<Rep>::decode(count, node, state));
    value = Duration(count);
    return {};
  }
  static Result<Json> encode(const Duration& value) { return Codec<Rep>::encode(value.count()); }
};

/// RFC 3339; finer digits than the type's unit are cut off.
template <class Duration>
struct Codec<std::chrono::sys_time<Duration>> {
  using Time = std::chrono::sys_time<Duration>;
  static Result<Shape> shape(ShapeStack& /*stack*/) {
    return Shape{.type = ShapeType::String, .format = "date-time"};
  }
  static Result<> decode(Time& value, const JsonNode& node, DecodeState& state) {
    const bool text = node.kind == JsonNode::Kind::String;
    const auto time = text ? detail::from_date_time(node.text) : std::nullopt;
    if (!time) {
      return state.expected("a date-time such as 2026-01-31T12:00:00Z", node);
    }
    value = std::chrono::floor<Duration>(*time);
    return {};
  }
  static Result<Json> encode(const Time& value) {
    return detail::to_date_time(std::chrono::time_point_cast<std::chrono::nanoseconds>(value));
  }
};

/// Base64 text; for bytes that need not be UTF-8.
template <>
struct Codec<std::vector<std::byte>> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{.type = ShapeType::String}; }
  static Result<> decode(std::vector<std::byte>& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::String) {
      return state.expected("string", node);
    }
    auto bytes = detail::from_base64(node.text);
    if (!bytes) {
      return state.problem("expected base64 text");
    }
    value = *std::move(bytes);
    return {};
  }
  static Result<Json> encode(const std::vector<std::byte>& value) {
    return detail::to_base64(value);
  }
};

/// A string in the type's own text form. An error of `from_text` is shown with the path.
template <detail::Text T>
struct Codec<T> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{.type = ShapeType::String}; }
  static Result<> decode(T& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::String) {
      return state.expected("string", node);
    }
    if (const Result<> read = from_text(std::string_view(node.text), value); !read) {
      return state.problem(read.error().message());
    }
    return {};
  }
  static Result<Json> encode(const T& value) { return std::string(to_text(value)); }
};

}  // namespace bawn::contract
