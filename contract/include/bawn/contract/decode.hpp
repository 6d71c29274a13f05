/// \file
/// Text or JSON into a described struct.
#pragma once

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/codec_struct.hpp"

#include <string_view>

namespace bawn::contract {

/// The value of an already parsed document. Members that are left out keep T's initial values.
///
/// Errors: InvalidArgument, "<path>: <problem>".
/// Threads: thread-safe.
template <class T>
[[nodiscard]] Result<T> decode(const JsonNode& node, const DecodeOptions& options = {}) {
  T value{};
  DecodeState state(options);
  BAWN_TRY(Codec<T>::decode(value, node, state));
  return value;
}

/// As above, from the document's text. Errors: also "not valid JSON: …".
template <class T>
[[nodiscard]] Result<T> decode_text(std::string_view text, const DecodeOptions& options = {}) {
  return decode<T>(BAWN_TRY(parse_json_node(text)), options);
}

/// A call's arguments without validation: empty text is `{}`. Errors begin "invalid arguments: ".
template <class T>
[[nodiscard]] Result<T> decode_arguments(std::string_view args, const DecodeOptions& options = {}) {
  auto value = decode<T>(BAWN_TRY(parse_arguments(args)), options);
  if (!value) {
    return std::unexpected(
        value.error().wrap("invalid arguments").with_payload(CallProblem::InvalidInput));
  }
  return value;
}

}  // namespace bawn::contract
