/// \file
/// `Codec<T>`: a C++ type's shape, decoder and encoder. The scalars are here, containers, time and
/// bytes in `codec_types.hpp`, described structs and enums in `codec_struct.hpp`. A type of one's
/// own gets a specialisation with the same three functions; then its shape is usually `Any`.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/json_node.hpp"
#include "bawn/contract/shape.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace bawn::contract {

/// How text becomes a value.
struct DecodeOptions {
  bool reject_unknown = false;   ///< members that are not described are errors
  bool require_members = false;  ///< members that are not optional must be there
  bool exact_integers = false;   ///< `1.0` and `1e2` are no integers
};

/// Where the decoder stands.
class DecodeState {
 public:
  /// At the root, where the path is empty.
  explicit DecodeState(const DecodeOptions& options) : options_(options) {}
  [[nodiscard]] const DecodeOptions& options() const noexcept { return options_; }
  /// InvalidArgument, "<path>: <message>".
  [[nodiscard]] std::unexpected<Error> problem(std::string_view message) const;
  /// InvalidArgument, "<path>: expected <type>, got <value>".
  [[nodiscard]] std::unexpected<Error> expected(std::string_view type, const JsonNode& got) const;
  /// Runs `decode` with the path one step longer: "outer.name" or "outer[3]".
  template <class Decode>
  Result<> in_member(std::string_view name, const Decode& decode) {
    const std::size_t length = path_.size();
    path_ += path_.empty() ? "" : ".";
    path_ += name;
    Result<> result = decode();
    path_.resize(length);
    return result;
  }
  template <class Decode>
  Result<> in_item(std::size_t index, const Decode& decode) {
    const std::size_t length = path_.size();
    path_ += "[" + std::to_string(index) + "]";
    Result<> result = decode();
    path_.resize(length);
    return result;
  }

 private:
  DecodeOptions options_;
  std::string path_;
};

/// The types whose shape is being made, outermost first: a type that contains itself is refused.
using ShapeStack = std::vector<std::type_index>;

template <class T>
inline constexpr bool kUnsupportedType = false;

/// What a type looks like in JSON. A specialisation has three static functions:
///
/// - `Result<Shape> shape(ShapeStack&)`: the type as the model sees it. Errors say why it cannot
///   be expressed; they appear when the tool is made.
/// - `Result<> decode(T& value, const JsonNode&, DecodeState&)`: fills `value`, which holds T's
///   initial value. Errors come from `state.problem` or `state.expected`, so that they carry the
///   path. After an error `value` may be half filled.
/// - `Result<Json> encode(const T&)`: the reverse. Errors are for values that JSON cannot write.
///
/// Threads: all three are called from many threads at once.
template <class T>
struct Codec {
  static_assert(kUnsupportedType<T>,
                "unsupported type: give it a describe(), to_text()/from_text(), a "
                "describe_enum() or a Codec specialisation, or use Json");
};

namespace detail {

/// The integer in a literal, exactly. Errors are plain texts without a path.
[[nodiscard]] Result<std::int64_t> signed_integer(const JsonNode& node, bool exact,
                                                  std::int64_t least, std::int64_t most);
[[nodiscard]] Result<std::uint64_t> unsigned_integer(const JsonNode& node, bool exact,
                                                     std::uint64_t most);

/// Character types are no numbers; a byte is spelt std::uint8_t or std::byte.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                  !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                  !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

}  // namespace detail

/// Any JSON. Integers beyond 64 bits become doubles.
template <>
struct Codec<Json> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{}; }
  static Result<> decode(Json& value, const JsonNode& node, DecodeState& /*state*/) {
    value = to_json(node);
    return {};
  }
  /// A copy. Errors: InvalidArgument when it is nested deeper than kMaxJsonDepth.
  static Result<Json> encode(const Json& value);
};

/// `true` and `false`; no number and no text is taken for one.
template <>
struct Codec<bool> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{.type = ShapeType::Boolean}; }
  static Result<> decode(bool& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::Boolean) {
      return state.expected("boolean", node);
    }
    value = node.boolean;
    return {};
  }
  static Result<Json> encode(bool value) { return value; }
};

/// Text. Reading has made sure that it is UTF-8; bytes that are not are for std::vector<std::byte>.
template <>
struct Codec<std::string> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{.type = ShapeType::String}; }
  static Result<> decode(std::string& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::String) {
      return state.expected("string", node);
    }
    value = node.text;
    return {};
  }
  static Result<Json> encode(const std::string& value) { return value; }
};

/// A whole number that fits T, read from its literal and so exact to the last of 64 bits. `2.0` and
/// `1e2` count unless `exact_integers`.
template <detail::Integer T>
struct Codec<T> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{.type = ShapeType::Integer}; }
  static Result<> decode(T& value, const JsonNode& node, DecodeState& state) {
    using Limits = std::numeric_limits<T>;
    const bool exact = state.options().exact_integers;
    if constexpr (std::signed_integral<T>) {
      const auto read = detail::signed_integer(node, exact, Limits::min(), Limits::max());
      if (!read) {
        return state.problem(read.error().message());
      }
      value = static_cast<T>(*read);
    } else {
      const auto read = detail::unsigned_integer(node, exact, Limits::max());
      if (!read) {
        return state.problem(read.error().message());
      }
      value = static_cast<T>(*read);
    }
    return {};
  }
  static Result<Json> encode(T value) { return value; }
};

/// Any number up to T's largest, rounded to T's precision. Infinity and NaN cannot be written.
template <std::floating_point T>
struct Codec<T> {
  static Result<Shape> shape(ShapeStack& /*stack*/) { return Shape{.type = ShapeType::Number}; }
  static Result<> decode(T& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::Number) {
      return state.expected("number", node);
    }
    constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
    if (node.number > kMost || node.number < -kMost) {
      return state.expected("a number that fits", node);
    }
    value = static_cast<T>(node.number);
    return {};
  }
  static Result<Json> encode(T value) {
    constexpr T kMost = std::numeric_limits<T>::max();
    if (!(value <= kMost && value >= -kMost)) {
      return fail(ErrorCode::InvalidArgument, "JSON has no infinity and no NaN");
    }
    return value;
  }
};

}  // namespace bawn::contract
