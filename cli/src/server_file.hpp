/// \file
/// Whose file it is: the servers' files in the runtime directory are named after the process that
/// writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bawn::cli {

/// A process of this boot. The start time (clock ticks after boot) tells it from a later one of the
/// same number.
struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_time = 0;

  bool operator==(const ProcessIdentity&) const = default;
};

/// From "<pid>-<start time>.jsonl", or the same with ".1" behind it for the older half.
[[nodiscard]] std::optional<ProcessIdentity> server_of(std::string_view file_name);

[[nodiscard]] bool is_alive(const ProcessIdentity& process);

}  // namespace bawn::cli
