/// \file
/// Command texts that need no parser to be known as well-formed.
#pragma once

#include <string_view>

namespace bawn::shell {

/// True when `text` is certainly complete and well-formed bash: simple commands of plain and quoted
/// words, `$name`, `${name}` and `$(...)` of the same, joined by `;` `&` `&&` `||` `|` and
/// newlines, with plain redirections and comments. False says nothing: such a text goes to `bash
/// -n`.
///
/// Source: "Shell Grammar" of bash(1).
[[nodiscard]] bool is_plain_text(std::string_view text) noexcept;

}  // namespace bawn::shell
