/// \file
/// A line of /proc/PID/stat that came from a container.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::container {

struct ProcessLine {
  int pid = 0;
  std::string name;
  char state = '?';
  int parent = 0;
  int pgid = 0;
  int sid = 0;
  std::uint64_t start_time = 0;
};

/// None when it is no such line. The name in it is a process's own choice. Pure.
[[nodiscard]] std::optional<ProcessLine> process_of(std::string_view line);

}  // namespace bawn::container
