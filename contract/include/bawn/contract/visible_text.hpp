/// \file
/// Results as text that a terminal cannot obey.
#pragma once

#include <string>
#include <string_view>

namespace bawn::contract {

/// The text with its control characters (C0 but for tab and line ends, DEL, C1) written as `\xNN`,
/// and what turns the direction of writing (U+202A to U+202E, U+2066 to U+2069) as `\u202e`: hosts
/// print results on terminals, which would obey them. All else stays byte for byte.
///
/// Threads: thread-safe.
[[nodiscard]] std::string visible_text(std::string_view text);

/// True when that is the text itself, as far as a quick look tells: false is no proof.
[[nodiscard]] bool is_visible(std::string_view text) noexcept;

}  // namespace bawn::contract
