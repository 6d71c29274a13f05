/// \file
/// The general JSON Schema validator, for schemas that somebody else wrote: supplied parameters,
/// output schemas, remote tools. Schemas of described structs use `validate.hpp`, whose messages
/// are fixed.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace bawn::contract {

namespace detail {
struct CompiledSchema;
}

/// A larger schema document is refused.
inline constexpr std::size_t kMaxSchemaBytes = 1U << 20;

/// A checked and prepared schema of draft 2020-12 (also without `$schema`) or draft-07.
///
/// Hostile schemas are harmless: nothing is fetched, patterns run in linear time, and both the
/// depth and the number of steps of a validation are bounded. Refused when compiling, each with a
/// sentence that says so: another `$schema`, references that leave the document, `$dynamicRef`,
/// `$recursiveRef`, a nested `$id`, and patterns with look-around or back-references.
///
/// Threads: thread-safe (immutable); copies share one document.
/// Source: JSON Schema 2020-12 core and validation; draft-07.
class JsonSchema {
 public:
  /// Errors: InvalidArgument, naming the keyword and where it is.
  [[nodiscard]] static Result<JsonSchema> compile(Json schema);
  /// From text. Errors: also text that is no JSON or longer than `kMaxSchemaBytes`.
  [[nodiscard]] static Result<JsonSchema> compile_text(std::string_view text);

  /// Checks a value. `format` is an assertion for date-time, date, time, email, hostname, ipv4,
  /// ipv6, uri, uuid, regex and json-pointer; other formats always pass.
  ///
  /// Errors: InvalidArgument, "<path>: <problem>" for the first problem, and for a value that is
  /// nested deeper than kMaxJsonDepth; ResourceExhausted when the schema needs more than the
  /// allowed steps.
  [[nodiscard]] Result<> validate(const Json& value) const;

  [[nodiscard]] const Json& document() const noexcept;

 private:
  explicit JsonSchema(std::shared_ptr<const detail::CompiledSchema> compiled);
  std::shared_ptr<const detail::CompiledSchema> compiled_;
};

}  // namespace bawn::contract
