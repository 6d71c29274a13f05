/// \file
/// File names as git writes them in patches.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::files {

struct QuotedName {
  std::string name;
  std::size_t size = 0;  ///< of the quoted form, both quotes included
};

/// The name at the start of `text`, which begins with '"'; none when it does not end or has an
/// unknown escape. Source: git's quote.c (core.quotePath): C escapes and three octal digits.
[[nodiscard]] std::optional<QuotedName> unquote_name(std::string_view text);

/// The path without its first part ("a/src/x" -> "src/x"); none when there is only one part.
[[nodiscard]] std::optional<std::string> without_first_part(std::string_view path);

}  // namespace bawn::files
