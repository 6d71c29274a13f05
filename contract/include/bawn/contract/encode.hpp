/// \file
/// A described value into JSON, and a described type into JSON Schema text.
#pragma once

#include "bawn/contract/codec_struct.hpp"
#include "bawn/contract/schema.hpp"

#include <string>

namespace bawn::contract {

/// The value's JSON. Empty optionals of a struct are left out.
///
/// Errors: InvalidArgument for a number that JSON cannot write.
/// Threads: thread-safe.
template <class T>
[[nodiscard]] Result<Json> encode(const T& value) {
  return Codec<T>::encode(value);
}

/// The schema of a described type.
///
/// Errors: InvalidArgument; see `shape_of` and `make_schema`.
template <class T>
[[nodiscard]] Result<Schema> schema_of(const SchemaOptions& options = {}) {
  return make_schema(BAWN_TRY(shape_of<T>()), options);
}

/// The schema as compact text.
template <class T>
[[nodiscard]] Result<std::string> schema_text_of(const SchemaOptions& options = {}) {
  return dump_json(to_json(BAWN_TRY(schema_of<T>(options))));
}

}  // namespace bawn::contract
