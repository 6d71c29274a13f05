/// \file
/// JSON pointers as the fragments of references.
#pragma once

#include "bawn/contract/json.hpp"

#include <string_view>

namespace bawn::contract::detail {

/// The value that the fragment of a reference names, percent escapes and all: "" or "/a/b~1c". Null
/// when there is none. Source: RFC 6901, section 6.
[[nodiscard]] const Json* follow_pointer(const Json& root, std::string_view fragment);

}  // namespace bawn::contract::detail
