/// \file
/// A definition on the wire, its canonical form, and the hash that says whether two tools are the
/// same to a model.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/tool.hpp"

#include <string>
#include <string_view>

namespace bawn::contract {

/// The schema text to serve: the definition's own, byte for byte, or `kNoArgsSchema` (C-4).
[[nodiscard]] std::string_view parameters_of(const Definition& definition) noexcept;

/// True for the schema of an object: a JSON object whose `type` is "object".
[[nodiscard]] bool is_object_schema(const Json& schema);

/// `{"type":"function","name":…,"description":…,"parameters":…}`, and `"strict":true` only when
/// strict (C-3).
///
/// Errors: InvalidArgument when the parameters are not a JSON object.
[[nodiscard]] Result<Json> to_json(const Definition& definition);

/// Reads the wire form. Absent and null parameters are none, `strict: false` is absent, an absent
/// description is empty.
///
/// Errors: InvalidArgument, naming the member that is missing or of a wrong type.
[[nodiscard]] Result<Definition> definition_from_json(const Json& wire);

/// The RFC 8785 text of the wire form (C-5). Errors: as `to_json`.
[[nodiscard]] Result<std::string> canonical_definition(const Definition& definition);

/// "sha256:" and the digest of the canonical text. Equal exactly for tools that a model cannot tell
/// apart; the order of array items (`required`, `enum`) counts, that of members does not.
[[nodiscard]] Result<std::string> definition_hash(const Definition& definition);

}  // namespace bawn::contract
