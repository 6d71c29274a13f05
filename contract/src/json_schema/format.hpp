/// \file
/// The checks of `pattern` and `format`.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

namespace bawn::contract::detail {

/// The pattern for RE2: ECMAScript's \uXXXX becomes \x{XXXX}. Null when RE2 does not take it.
[[nodiscard]] std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern);

/// True when `text` has the format, and for a format that is not known.
[[nodiscard]] bool has_format(std::string_view format, const std::string& text);

}  // namespace bawn::contract::detail
