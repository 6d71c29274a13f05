/// \file
/// Why the wall may have refused a path. Concluded from the policy alone, so never more than
/// "possible".
#pragma once

#include "bawn/files/place.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::files {

enum class Access { Read, Write };

/// Why what is at a path may be hidden by the policy: "secrets: ~/.ssh; …"; none when it is not.
[[nodiscard]] std::optional<std::string> why_hidden(const Place& place, std::string_view absolute);

/// That what is at a path is hidden, by the rule that why_hidden() named.
[[nodiscard]] Error hidden(const Place& place, std::string_view shown, std::string_view rule);

/// `error` with the rule that may be behind it, when the kernel or the agent refused access and the
/// policy would. Other errors come back as they are.
[[nodiscard]] Error explained(const Place& place, std::string_view absolute, Access access,
                              const Error& error);

}  // namespace bawn::files
