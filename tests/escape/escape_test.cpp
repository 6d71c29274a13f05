/// \file
/// Each attack, in each mode of the wall. The control runs the same code outside the wall and must
/// succeed: a denial that would have happened anyway proves nothing. Inside, the errno must be one
/// of those that the attack names, and nothing outside may have changed.

#include "arena.hpp"
#include "attacks.hpp"
#include "bawn/sandbox/features.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"

#include <fmt/format.h>
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
/// What the probe must not find, by the name of the mode.
constexpr const char* kModes[] = {"", "namespaces", "landlock"};

struct Case {
  unsigned uid = 0;  ///< who starts bawn
  Attack attack;
};

void PrintTo(const Case& tried, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << tried.attack.policy;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Attack& attack : attacks()) {
    cases.push_back({0, attack});
    if (!attack.has(kRootOnly)) {
      cases.push_back({kOrdinaryUser, attack});
    }
  }
  return cases;
}

std::string script(const Arena& arena, const Attack& attack) {
  std::string body;
  for (const char letter : "\n" + attack.code) {
    body += letter;
    body += letter == '\n' ? "    " : "";
  }
  return arena.prelude() + "\n\ntry:" + body +
         "\n    print('done')\nexcept OSError as e:\n"
         "    print(errno.errorcode.get(e.errno, type(e).__name__))\n"
         "except Held as how:\n    print(how)\n";
}

std::vector<std::string> started(const Arena& arena, const Attack& attack,
                                 std::vector<std::string> argv) {
  if (attack.has(kInherits)) {
    argv.insert(argv.begin(),
                {"/bin/bash", "-c",
                 fmt::format("exec 7<>{0}/file 8<{0} 9<>/dev/tcp/127.0.0.1/{1} && exec \"$@\"",
                             arena.outside(), arena.token().substr(arena.token().rfind('-') + 1)),
                 "bash"});
  }
  return argv;
}

/// The control: the same outside the wall.
void expect_to_work(const Case& tried, std::string& absent) {
  const Arena arena(tried.uid);
  const auto result = run_program(
      {.argv = started(arena, tried.attack, {kPython, "-c", script(arena, tried.attack)}),
       .directory = arena.workspace(),
       .env = {{"ESCAPE_API_KEY", "secret"}},
       .uid = tried.uid});
  const bool happened = tried.attack.happened == nullptr || tried.attack.happened(arena);
  if (result.out == "done\n" && happened) {
    return;
  }
  ASSERT_TRUE(tried.attack.has(kMayBeAbsent))
      << "the control failed: " << result.out << result.err << (happened ? "" : "no evidence");
  absent = result.out + result.err;
}

ProgramResult run_inside(const Case& tried, const Arena& arena, const char* features_off) {
  std::string policy = tried.attack.policy;
  const TempDir scratch;
  if (policy.starts_with('{')) {
    policy = scratch.write("policy.json", policy);
    std::filesystem::permissions(scratch.path(), std::filesystem::perms::others_exec,
                                 std::filesystem::perm_options::add);
  }
  return run_program(
      {.argv = started(arena, tried.attack,
                       {BAWN_PROGRAM, "run", "--policy", policy, "--workspace", arena.workspace(),
                        "--", kPython, "-c", script(arena, tried.attack)}),
       .directory = arena.workspace(),
       .env = {{"HOME", arena.home()},
               {"BAWN_FEATURES_OFF", features_off},
               {"ESCAPE_API_KEY", "secret"},
               {"TMPDIR", "/tmp"}},
       .uid = tried.uid});
}

/// Whether Landlock alone can give what the policies require: it holds truncation from ABI 3 on.
bool is_refused_without_namespaces() {
  static const bool refused = sandbox::probe_features().landlock_abi < 3;
  return refused;
}

/// `absent`: what the control said where this machine does not have what is attacked.
void expect_to_be_held(const Case& tried, const char* features_off, const std::string& absent) {
  SCOPED_TRACE(fmt::format("without: {}", features_off[0] == '\0' ? "nothing" : features_off));
  const Arena arena(tried.uid);
  const std::string before = arena.state();
  auto result = run_inside(tried, arena, features_off);
  if (std::string_view(features_off) == "namespaces" && is_refused_without_namespaces()) {
    EXPECT_EQ(result.exit_code, 125);
    EXPECT_THAT(result.err, ::testing::HasSubstr("requires the guarantee fs-write"));
    EXPECT_EQ(arena.state(), before);
    return;
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_FALSE(result.out.empty());
  result.out.pop_back();
  EXPECT_EQ(arena.state(), before);
  if (tried.attack.happened != nullptr) {
    EXPECT_FALSE(tried.attack.happened(arena));
    if (result.out == "done") {
      return;  // to something of the session's own
    }
  }
  if (result.out == "ENOSYS" && absent.starts_with(result.out)) {
    return;  // a call that is newer than this kernel
  }
  EXPECT_THAT(tried.attack.held_by, ::testing::Contains(result.out)) << result.err;
}

class AnEscape : public ::testing::TestWithParam<Case> {};

TEST_P(AnEscape, IsHeldByTheWall) {
  const Case& tried = GetParam();
  BAWN_REQUIRE("python3");
  BAWN_REQUIRE("git");
  BAWN_REQUIRE("landlock");
  BAWN_REQUIRE("user-namespaces");
  if (tried.uid != ::geteuid()) {
    BAWN_REQUIRE("root");
  }
  std::string absent;
  expect_to_work(tried, absent);
  for (const char* features_off : kModes) {
    const std::string_view off = features_off;
    const bool open = off == "namespaces" && tried.attack.has(kNeedsNamespaces);
    if (!open && !HasFatalFailure()) {
      expect_to_be_held(tried, features_off, absent);
    }
  }
  if (!absent.empty() && !HasFailure()) {
    GTEST_SKIP() << "held, but this machine does not have it outside either: " << absent;
  }
}

INSTANTIATE_TEST_SUITE_P(Wall, AnEscape, ::testing::ValuesIn(all_cases()), [](const auto& tested) {
  return std::string(tested.param.uid == 0 ? "Root_" : "User_") + tested.param.attack.name;
});

}  // namespace
}  // namespace bawn::test
