/// \file
/// JSON pointers as the fragments of references.
#pragma once

#include "bawn/contract/json.hpp"

#include <string_view>

namespace bawn::contract::detail {

/// The value that the fragment of a reference names, percent escapes and all: "" or "/a/b~1c". Null
/// when there is none, and for what is no pointer: "/00" into an array, "/a~2". Source: RFC 6901,
/// sections 3, 4 and 6.
[[nodiscard]] const Json* follow_pointer(const Json& root, std::string_view fragment);

}  // namespace bawn::contract::detail
