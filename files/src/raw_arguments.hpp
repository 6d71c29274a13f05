/// \file
/// Single members of a call's arguments, without reading all of a large document.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bawn::files {

/// The string member `name` of the JSON object `args`; none when there is none, or when the text is
/// no such object. Other members are passed over unread: whoever acts on a call reads it whole.
[[nodiscard]] std::optional<std::string> text_argument(std::string_view args,
                                                       std::string_view name);

}  // namespace bawn::files
