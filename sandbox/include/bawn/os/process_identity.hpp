/// \file
/// Which process something belongs to, in a name or a record that outlives it.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::os {

/// A process of this boot. The start time (clock ticks after boot) tells it from a later one of the
/// same number.
struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_time = 0;

  bool operator==(const ProcessIdentity&) const = default;
};

/// This process. Errors: NotFound (/proc is not mounted).
[[nodiscard]] contract::Result<ProcessIdentity> own_identity();

/// "PID-START".
[[nodiscard]] std::string to_string(const ProcessIdentity& process);
/// Takes "PID-START" off the beginning of a name; none, and the name as it was, where there is
/// none.
[[nodiscard]] std::optional<ProcessIdentity> take_identity(std::string_view& name);

/// Both answer for certain only: where it cannot be told (a hidden /proc, no descriptors left)
/// neither holds, so that nothing is ended that may be a stranger's and nothing removed that may be
/// in use.
[[nodiscard]] bool is_running(const ProcessIdentity& process);
[[nodiscard]] bool has_ended(const ProcessIdentity& process);

}  // namespace bawn::os
