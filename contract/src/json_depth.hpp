/// \file
/// How deep a value is. What was read is bounded already; what a program built is not, and whatever
/// walks it by recursion asks first.
#pragma once

#include "bawn/contract/json.hpp"

#include <cstddef>

namespace bawn::contract::detail {

/// True when the value has containers within containers beyond `levels`. A scalar has no level, an
/// empty array has one.
[[nodiscard]] bool is_deeper_than(const Json& value, std::size_t levels) noexcept;

/// Errors: InvalidArgument, "nested deeper than 128 levels": more than any reader of ours takes.
[[nodiscard]] Result<> check_depth(const Json& value);

}  // namespace bawn::contract::detail
