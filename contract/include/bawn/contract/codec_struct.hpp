/// \file
/// Codecs of described structs and enums, and how a struct's description becomes a shape.
#pragma once

#include "bawn/contract/codec.hpp"
#include "bawn/contract/codec_types.hpp"
#include "bawn/contract/describe.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

namespace bawn::contract {

namespace detail {

/// True for std::optional, which may be left out without saying so in the description.
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// The typed values of a comma list. Errors: "enum value …".
[[nodiscard]] Result<std::vector<Json>> parse_choices(std::string_view items, ShapeType type);

/// Adds a field. Errors: a name that is there already, bounds on what is no number.
[[nodiscard]] Result<> add_field(Shape& shape, ShapeField field);

/// "unexpected property" for the first member that `known` lacks, in byte order.
[[nodiscard]] Result<> refuse_unknown(const JsonNode& node,
                                      const std::vector<std::string_view>& known,
                                      const DecodeState& state);

/// "<path>: missing required property", in the words of the validator.
[[nodiscard]] Error missing_member(std::string_view name, const DecodeState& state);

/// One field of T as the model sees it. A std::optional member is both optional and nullable; an
/// enum's names are the field's choices unless `one_of` narrows them; a stated default is what a
/// fresh T holds, so that it cannot differ from what the decoder leaves.
template <class T, class F, class Access>
Result<ShapeField> shape_of_field(const F& field, const Access& access, ShapeStack& stack) {
  using M = FieldTypeOf<F>;
  ShapeField out;
  out.name = field.name;
  out.description = field.description;
  out.optional = field.is_optional || kIsOptional<M>;
  out.nullable = kIsOptional<M>;
  out.minimum = field.minimum;
  out.maximum = field.maximum;
  out.shape = BAWN_TRY(Codec<M>::shape(stack));
  if (!field.choices.empty()) {
    out.choices = BAWN_TRY(parse_choices(field.choices, out.shape.type));
  } else {
    out.choices = out.shape.choices;
  }
  if (field.states_default) {
    const T initial{};
    out.default_value = BAWN_TRY(Codec<M>::encode(access(initial)));
  }
  return out;
}

}  // namespace detail

/// A described struct as an object with its fields in the order of the description.
///
/// Decoding leaves a member that is not in the document at its initial value, unless
/// `require_members`; members that are not described are skipped, unless `reject_unknown`.
template <Described T>
struct Codec<T> {
  /// Errors: InvalidArgument: "recursive", a bad enum value, a name described twice.
  static Result<Shape> shape(ShapeStack& stack) {
    const std::type_index self(typeid(T));
    if (std::find(stack.begin(), stack.end(), self) != stack.end()) {
      return fail(ErrorCode::InvalidArgument, "recursive type: it contains itself");
    }
    stack.push_back(self);
    Shape shape{.type = ShapeType::Object};
    Result<> result;
    visit_fields<T>([&](const auto& field, const auto& access) {
      if (!result) {
        return;
      }
      auto made = detail::shape_of_field<T>(field, access, stack);
      if (!made) {
        result = std::unexpected(made.error().wrap("field \"" + std::string(field.name) + "\""));
      } else {
        result = detail::add_field(shape, *std::move(made));
      }
    });
    stack.pop_back();
    BAWN_TRY(result);
    return shape;
  }

  static Result<> decode(T& value, const JsonNode& node, DecodeState& state) {
    if (node.kind != JsonNode::Kind::Object) {
      return state.expected("object", node);
    }
    Result<> result;
    std::vector<std::string_view> known;
    visit_fields<T>([&](const auto& field, const auto& access) {
      if (!result) {
        return;
      }
      using M = FieldTypeOf<decltype(field)>;
      known.push_back(field.name);
      const JsonNode* const member = node.find(field.name);
      if (member != nullptr) {
        result = state.in_member(field.name,
                                 [&] { return Codec<M>::decode(access(value), *member, state); });
      } else if (state.options().require_members && !field.is_optional && !detail::kIsOptional<M>) {
        result = std::unexpected(detail::missing_member(field.name, state));
      }
    });
    BAWN_TRY(result);
    return state.options().reject_unknown ? detail::refuse_unknown(node, known, state) : Result<>();
  }

  /// Empty optionals are left out.
  static Result<Json> encode(const T& value) {
    Json object = Json::object();
    Result<> result;
    visit_fields<T>([&](const auto& field, const auto& access) {
      using M = FieldTypeOf<decltype(field)>;
      const M& member = access(value);
      if constexpr (detail::kIsOptional<M>) {
        if (!member) {
          return;
        }
      }
      auto json = Codec<M>::encode(member);
      if (!json) {
        result = std::unexpected(json.error().wrap(field.name));
      } else {
        object[std::string(field.name)] = *std::move(json);
      }
    });
    BAWN_TRY(result);
    return object;
  }
};

/// A string out of the enumeration's names. An enum value without a name cannot be encoded.
template <DescribedEnum E>
struct Codec<E> {
  static Result<Shape> shape(ShapeStack& /*stack*/) {
    Shape shape{.type = ShapeType::String};
    for (const auto& entry : describe_enum(E{})) {
      shape.choices.emplace_back(entry.name);
    }
    return shape;
  }
  static Result<> decode(E& value, const JsonNode& node, DecodeState& state) {
    std::string names;
    for (const auto& entry : describe_enum(E{})) {
      if (node.kind == JsonNode::Kind::String && node.text == entry.name) {
        value = entry.value;
        return {};
      }
      names += (names.empty() ? "\"" : ", \"") + std::string(entry.name) + "\"";
    }
    return state.expected("one of [" + names + "]", node);
  }
  static Result<Json> encode(E value) {
    for (const auto& entry : describe_enum(E{})) {
      if (entry.value == value) {
        return entry.name;
      }
    }
    return fail(ErrorCode::Internal, "an enumeration holds a value without a name");
  }
};

/// The shape of a described type (C-20).
///
/// Errors: InvalidArgument: "recursive", "enum value", a name described twice.
template <class T>
[[nodiscard]] Result<Shape> shape_of() {
  ShapeStack stack;
  return Codec<T>::shape(stack);
}

}  // namespace bawn::contract
