/// \file
/// Each attack of attacks.cpp, in each mode of the wall. The control runs the same code outside the
/// wall and must succeed: a denial that would have happened anyway proves nothing.

#include "arena.hpp"
#include "attacks.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {
namespace {

constexpr unsigned kOrdinaryUser = 12345;
// By path: an ordinary user may not reach what a version manager puts into root's PATH.
constexpr const char* kPython = "/usr/bin/python3";

struct Mode {
  const char* name;
  unsigned uid;              ///< who starts bawn
  const char* features_off;  ///< what the probe must not find
};

struct Case {
  Mode mode;
  Attack attack;
};

void PrintTo(const Case& tried, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << tried.attack.code;
}

std::vector<Case> all_cases() {
  const std::vector<Mode> modes = {{"RootAllLayers", 0, ""},
                                   {"RootNoNamespaces", 0, "namespaces"},
                                   {"RootNoLandlock", 0, "landlock"},
                                   {"UserAllLayers", kOrdinaryUser, ""},
                                   {"UserNoNamespaces", kOrdinaryUser, "namespaces"}};
  std::vector<Case> cases;
  for (const Mode& mode : modes) {
    const bool without_namespaces = std::string_view(mode.features_off) == "namespaces";
    for (const Attack& attack : attacks()) {
      if ((attack.root_only && mode.uid != 0) || (attack.needs_namespaces && without_namespaces)) {
        continue;
      }
      cases.push_back({mode, attack});
    }
  }
  return cases;
}

std::string script(const Arena& arena, const Attack& attack) {
  return arena.prelude() + "try:\n    " + attack.code +
         "\n    print('done')\nexcept OSError as e:\n    "
         "print(errno.errorcode.get(e.errno, type(e).__name__))\n";
}

ProgramResult outside(const Case& tried) {
  const Arena arena(tried.mode.uid);
  return run_program({.argv = {kPython, "-c", script(arena, tried.attack)},
                      .directory = arena.workspace(),
                      .uid = tried.mode.uid});
}

ProgramResult inside(const Case& tried) {
  const Arena arena(tried.mode.uid);
  return run_program({.argv = {BAWN_PROGRAM, "run", "--workspace", arena.workspace(), "--",
                               "/usr/bin/python3", "-c", script(arena, tried.attack)},
                      .directory = arena.workspace(),
                      .env = {{"HOME", arena.home()},
                              {"BAWN_FEATURES_OFF", tried.mode.features_off},
                              {"TMPDIR", "/tmp"}},
                      .uid = tried.mode.uid});
}

class AnEscape : public ::testing::TestWithParam<Case> {};

TEST_P(AnEscape, IsHeldByTheWall) {
  const Case& tried = GetParam();
  BAWN_REQUIRE("python3");
  BAWN_REQUIRE("git");
  BAWN_REQUIRE("landlock");
  BAWN_REQUIRE("user-namespaces");
  if (tried.mode.uid != ::geteuid()) {
    BAWN_REQUIRE("root");
  }
  const auto control = outside(tried);
  if (tried.attack.may_be_absent && control.out != "done\n") {
    GTEST_SKIP() << "this machine does not have it: " << control.out << control.err;
  }
  ASSERT_EQ(control.out, "done\n") << "the control failed: " << control.err;
  auto result = inside(tried);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_FALSE(result.out.empty());
  result.out.pop_back();
  EXPECT_THAT(tried.attack.held_by, ::testing::Contains(result.out)) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Wall, AnEscape, ::testing::ValuesIn(all_cases()), [](const auto& tested) {
  return std::string(tested.param.mode.name) + "_" + tested.param.attack.name;
});

}  // namespace
}  // namespace bawn::test
