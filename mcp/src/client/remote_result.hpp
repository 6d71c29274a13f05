/// \file
/// A server's answer to `tools/call` as the outcome of a contract call.
#pragma once

#include "bawn/mcp/client.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// Text content becomes text, its blocks joined by line ends; with anything else in it the result
/// is in parts. Structure that no text repeats is added as a last text, for the model reads only
/// that. `tool` is the server's name for it.
[[nodiscard]] contract::Outcome outcome_of(std::string_view tool, const contract::Json& result,
                                           const ClientOptions& options);

/// The confinement in a `_meta`; none when there is none or it is malformed.
[[nodiscard]] std::optional<contract::Confinement> confinement_in(const contract::Json& meta);

/// The member when it is a string; empty otherwise.
[[nodiscard]] std::string string_member(const contract::Json& object, std::string_view name);

}  // namespace bawn::mcp
