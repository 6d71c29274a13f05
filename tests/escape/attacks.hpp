/// \file
/// The attacks as data: what is tried, and with which errno the wall must answer.
#pragma once

#include <string>
#include <vector>

namespace bawn::test {

struct Attack {
  std::string name;
  /// Python statements; OUT, WS, HOME, VICTIM, PORT and SOCKET are set. Raises OSError when denied.
  std::string code;
  /// Names of the errnos that count as held.
  std::vector<std::string> held_by;
  /// Only root can do it outside the wall, so that only root's control can show that it works.
  bool root_only = false;
  /// Without namespaces no layer of these kernels can hold it; docs/limits.md names it.
  bool needs_namespaces = false;
  /// The machine may not have it at all: a failing control skips instead of failing.
  bool may_be_absent = false;
};

[[nodiscard]] const std::vector<Attack>& attacks();

}  // namespace bawn::test
