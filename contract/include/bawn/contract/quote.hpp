/// \file
/// Quoting of untrusted text inside messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bawn::contract {

/// The text in double quotes, as Go's %q writes it: `\a \b \f \n \r \t \v \\ \"`, other controls as
/// `\x01`, bytes that are not UTF-8 as `\xff`, unprintable code points as `\u202e` or `\U000e0001`,
/// everything printable as it is. Unassigned code points inside assigned blocks count as printable.
///
/// Use it for every name or value that a message repeats: no terminal control and no text-direction
/// override gets through.
/// Threads: thread-safe.
[[nodiscard]] std::string quote(std::string_view text);

/// The text itself when it is all plain and printable, quoted otherwise: one line in any case.
[[nodiscard]] std::string plain_or_quoted(std::string_view text);

/// The first bytes of a text, at most `bytes`, cut between code points: a message repeats the start
/// of a hostile value, never megabytes of it.
[[nodiscard]] std::string_view text_start(std::string_view text, std::size_t bytes) noexcept;

}  // namespace bawn::contract
