/// \file
/// A warden's requests and answers as bytes, the same over both streams.
#pragma once

#include "bawn/sandbox/warden.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// The payload of wire::Type::Spawn.
///
/// Errors: InvalidArgument (the spec cannot be passed on).
[[nodiscard]] Result<std::string> encode_spawn(const SpawnSpec& spec);
/// The payload of wire::Type::Signal. Errors: InvalidArgument.
[[nodiscard]] Result<std::string> encode_signal(const SignalTarget& target, int signal);
/// The payload of wire::Type::Listed, with inside numbers throughout. Errors: Internal.
[[nodiscard]] Result<std::vector<ProcessInfo>> decode_tree(std::string_view payload);
/// A spawn's error in the words of what was to be started.
[[nodiscard]] Error explain_spawn(const SpawnSpec& spec, Error error);
/// The working directory could not be entered.
[[nodiscard]] Error directory_error(int errnum);

}  // namespace bawn::sandbox
