/// \file
/// How a struct describes its members, once, for schema, validator, decoder, encoder, command-line
/// flags and documentation:
///
///     struct ReadArgs {
///       std::string path;
///       int max_bytes = 65536;
///       static constexpr auto describe() {
///         return fields(field("path", &ReadArgs::path).desc("File to read"),
///                       field("max_bytes", &ReadArgs::max_bytes)
///                           .desc("Stop after this many bytes").optional().range(1, 1 << 20));
///       }
///     };
///
/// `describe` is a function and not a static member, because only inside a function body is the
/// class complete, so that `&ReadArgs::path` and nested described types work. For a type that
/// cannot be edited specialise `Description<T>`.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bawn::contract {

/// One member: its name on the wire and what is said about it. Every setter returns a changed
/// copy. The texts must be string literals or live as long.
template <class C, class M>
struct Field {
  std::string_view name;
  M C::* member;
  std::string_view description{};
  std::string_view choices{};
  bool is_optional = false;
  bool states_default = false;
  std::optional<double> minimum{};
  std::optional<double> maximum{};

  /// What the model reads about it.
  [[nodiscard]] constexpr Field desc(std::string_view text) const {
    Field copy = *this;
    copy.description = text;
    return copy;
  }
  /// The allowed values, comma separated: "low,high" or "1,2". Blanks around an item are dropped;
  /// each must be a value of the member's type, or making the tool fails.
  [[nodiscard]] constexpr Field one_of(std::string_view items) const {
    Field copy = *this;
    copy.choices = items;
    return copy;
  }
  /// The caller may leave it out: the member then keeps its initial value. A std::optional member
  /// always may.
  [[nodiscard]] constexpr Field optional() const {
    Field copy = *this;
    copy.is_optional = true;
    return copy;
  }
  /// As `optional`, and the schema states the member's initial value as its default.
  [[nodiscard]] constexpr Field with_default() const {
    Field copy = optional();
    copy.states_default = true;
    return copy;
  }
  /// Inclusive bounds of a number.
  [[nodiscard]] constexpr Field range(double least, double most) const {
    Field copy = *this;
    copy.minimum = least;
    copy.maximum = most;
    return copy;
  }
  /// An inclusive lower bound of a number.
  [[nodiscard]] constexpr Field at_least(double least) const {
    Field copy = *this;
    copy.minimum = least;
    return copy;
  }
};

template <class C, class M>
[[nodiscard]] constexpr Field<C, M> field(std::string_view name, M C::* member) {
  return {.name = name, .member = member};
}

/// A described member whose fields appear in place, as if they were this struct's own. A name that
/// is described twice makes the tool's construction fail.
template <class C, class M>
struct Embed {
  M C::* member;
};

template <class C, class M>
[[nodiscard]] constexpr Embed<C, M> embed(M C::* member) {
  return {.member = member};
}

/// A described base class whose fields appear in place.
template <class B>
struct EmbedBase {};

template <class B>
[[nodiscard]] constexpr EmbedBase<B> embed() {
  return {};
}

/// The list that `describe` returns. An empty list describes "no arguments".
template <class... Items>
[[nodiscard]] constexpr std::tuple<Items...> fields(Items... items) {
  return std::tuple<Items...>(std::move(items)...);
}

/// Where a type's description is found. Specialise it for types that cannot have a `describe`.
template <class T>
struct Description {};

template <class T>
  requires requires { T::describe(); }
struct Description<T> {
  static constexpr auto get() { return T::describe(); }
};

/// A struct with a description.
template <class T>
concept Described = requires { Description<T>::get(); };

/// Arguments of a tool that takes none.
struct NoArgs {
  static constexpr auto describe() { return fields(); }
};

/// One name of an enumeration. An enum is described by a function found beside it:
///
///     constexpr std::array<EnumName<Level>, 2> describe_enum(Level) {
///       return {{{"low", Level::Low}, {"high", Level::High}}};
///     }
template <class E>
struct EnumName {
  std::string_view name;
  E value;
};

template <class E>
concept DescribedEnum = std::is_enum_v<E> && requires(E value) { describe_enum(value).size(); };

namespace detail {

template <class T, class Visit, class Access>
constexpr void visit_fields_through(const Visit& visit, const Access& access);

template <class C, class M, class Visit, class Access>
constexpr void visit_item(const Field<C, M>& field, const Visit& visit, const Access& access) {
  visit(field, [&](auto& object) -> auto& { return access(object).*(field.member); });
}

template <class C, class M, class Visit, class Access>
constexpr void visit_item(const Embed<C, M>& part, const Visit& visit, const Access& access) {
  visit_fields_through<M>(visit,
                          [&](auto& object) -> auto& { return access(object).*(part.member); });
}

template <class B, class Visit, class Access>
constexpr void visit_item(const EmbedBase<B>& /*part*/, const Visit& visit, const Access& access) {
  visit_fields_through<B>(visit, [&](auto& object) -> auto& {
    using Object = std::remove_reference_t<decltype(access(object))>;
    using Base = std::conditional_t<std::is_const_v<Object>, const B, B>;
    return static_cast<Base&>(access(object));
  });
}

template <class T, class Visit, class Access>
constexpr void visit_fields_through(const Visit& visit, const Access& access) {
  std::apply([&](const auto&... item) { (visit_item(item, visit, access), ...); },
             Description<T>::get());
}

}  // namespace detail

/// Calls `visit(field, access)` for each field in order, embedded ones in place. `access(object)`
/// is the member of a T or const T.
template <Described T, class Visit>
constexpr void visit_fields(const Visit& visit) {
  detail::visit_fields_through<T>(visit, [](auto& object) -> auto& { return object; });
}

/// The type of a field's member.
template <class F>
struct FieldType;
template <class C, class M>
struct FieldType<Field<C, M>> {
  using type = M;
};
template <class F>
using FieldTypeOf = typename FieldType<std::remove_cvref_t<F>>::type;

}  // namespace bawn::contract
