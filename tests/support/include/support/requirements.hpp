/// \file
/// What a test needs from the machine. A test without its need is skipped with the reason, unless
/// BAWN_TEST_REQUIRE (comma-separated names, or "all") demands it: then it fails.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bawn::test {

/// Probes for real. Names: root, user-namespaces, landlock, seccomp, node, npm, bash, python3, git,
/// shared-vectors. None when the need is met, else the reason.
std::optional<std::string> missing_requirement(std::string_view name);

/// True when BAWN_TEST_REQUIRE names `name` or is "all".
bool is_required(std::string_view name);

}  // namespace bawn::test

/// First line of a test body that needs something.
#define BAWN_REQUIRE(name)                                                            \
  do {                                                                                \
    if (const auto bawn_missing = ::bawn::test::missing_requirement(name)) {          \
      if (::bawn::test::is_required(name)) {                                          \
        FAIL() << "required by BAWN_TEST_REQUIRE: " << name << ": " << *bawn_missing; \
      }                                                                               \
      GTEST_SKIP() << "needs " << name << ": " << *bawn_missing;                      \
    }                                                                                 \
  } while (false)
