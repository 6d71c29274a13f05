// git in linked worktrees and submodules that were there before the session: its work goes on, and
// what its programs obey stays as it was.
#include "inside.hpp"
#include "support/requirements.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace bawn::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kNames =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n";

/// What a hostile command tries, one path in each line; it prints those that it could write.
constexpr const char* kTries = R"sh(
  for path in "$@"; do
    if { echo hostile > "$path"; } 2>/dev/null; then echo "wrote $path"; fi
  done
)sh";

bool without_namespaces() {
  const char* off = ::getenv("BAWN_FEATURES_OFF");
  return off != nullptr && std::string_view(off).find("namespaces") != std::string_view::npos;
}

class GitDirectories : public testing::TestWithParam<Starter> {
 protected:
  void SetUp() override {
    if (const std::string missing = inside_.missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }
  void prepare(const std::string& script) {
    const auto made = inside_.prepare(kNames + script);
    ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  }
  ProgramResult run(const std::string& script) { return inside_.run(kNames + script); }
  ProgramResult outside(const std::string& script) { return inside_.prepare(script); }
  /// Which of `paths` a command can write, one "wrote PATH" each.
  std::string written(const std::string& paths) {
    const auto result = inside_.run(fmt::format("set -- {}{}", paths, kTries));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  Inside inside_{GetParam()};
};

constexpr const char* kMakeWorktree = R"sh(
  git init -q -b main main && cd main
  echo one > file && git add file && git commit -qm first
  git worktree add -q ../workspace -b topic
  touch .git/info/attributes
)sh";

TEST_P(GitDirectories, ALinkedWorktreeCommitsIntoItsRepository) {
  BAWN_REQUIRE("git");
  prepare(kMakeWorktree);
  const auto result = run(R"sh(
    echo two > new && git add new && git commit -qm second && git tag here
    git checkout -q -b other && git commit -q --allow-empty -m third && git checkout -q topic
    git merge -q other && git stash list && git log --format=%s
  )sh");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err << inside_.report();
  EXPECT_EQ(result.out, "third\nsecond\nfirst\n");
  const auto seen = outside("git -C main log --format=%s topic && git -C main status --short");
  EXPECT_EQ(seen.out, "third\nsecond\nfirst\n") << seen.err;
  EXPECT_THAT(inside_.report(), HasSubstr("writable besides the paths that the policy names"));
}

TEST_P(GitDirectories, ALinkedWorktreeLeavesWhatItsRepositoryObeys) {
  BAWN_REQUIRE("git");
  prepare(kMakeWorktree);
  EXPECT_EQ(written("../main/.git/config ../main/.git/hooks/post-commit ../main/.git/commondir "
                    "../main/.git/config.worktree ../main/.git/info/attributes ../main/.git/HEAD "
                    "../main/.git/objects/made"),
            "wrote ../main/.git/objects/made\n");
  if (!without_namespaces()) {
    EXPECT_EQ(written(".git ../main/.git/worktrees/workspace/commondir "
                      "../main/.git/worktrees/workspace/gitdir "
                      "../main/.git/worktrees/workspace/made"),
              "wrote ../main/.git/worktrees/workspace/made\n");
  }
}

TEST_P(GitDirectories, AFileThatOnlyNamesARepositoryOpensNothing) {
  BAWN_REQUIRE("git");
  prepare(std::string(kMakeWorktree) + R"sh(
    git worktree add -q ../second -b second
    cp ../second/.git ../workspace/.git
  )sh");
  EXPECT_EQ(written("../main/.git/objects/made ../main/.git/worktrees/second/made made"),
            "wrote made\n");
  EXPECT_THAT(inside_.report(), Not(HasSubstr("besides the paths")));
}

constexpr const char* kMakeSubmodule = R"sh(
  git init -q -b main library
  echo one > library/file && git -C library add file && git -C library commit -qm first
  git init -q -b main SUPER && cd SUPER
  git -c protocol.file.allow=always submodule --quiet add "$PWD/../library" PART
  git commit -qm 'with a part'
)sh";

std::string make_submodule(std::string_view super, std::string_view part) {
  std::string script = kMakeSubmodule;
  for (const auto& [word, name] : {std::pair{"SUPER", super}, {"PART", part}}) {
    for (auto at = script.find(word); at != std::string::npos; at = script.find(word)) {
      script.replace(at, std::string_view(word).size(), name);
    }
  }
  return script;
}

TEST_P(GitDirectories, ASubmoduleOfTheWorkspaceCommitsAndKeepsItsHooks) {
  BAWN_REQUIRE("git");
  prepare(make_submodule("workspace", "part"));
  const auto result =
      run("cd part && echo two > new && git add new && git commit -qm second && "
          "git log --format=%s && cd .. && git add part && git commit -qm both");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.out, "second\nfirst\n");
  if (!without_namespaces()) {
    EXPECT_EQ(written(".git/modules/part/hooks/post-commit .git/modules/part/config part/.git "
                      ".git/hooks/post-commit .git/config .git/modules/part/made"),
              "wrote .git/modules/part/made\n");
  }
}

TEST_P(GitDirectories, ASubmoduleAsWorkspaceCommitsIntoItsOwnDirectory) {
  BAWN_REQUIRE("git");
  prepare("rmdir workspace\n" + make_submodule("super", "workspace") +
          "mv workspace ../workspace && echo \"gitdir: $PWD/.git/modules/workspace\" > "
          "../workspace/.git && git config -f .git/modules/workspace/config core.worktree "
          "../../../../workspace");
  const auto result =
      run("echo two > new && git add new && git commit -qm second && git log --format=%s");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(result.out, "second\nfirst\n");
  // Around it lies the private /tmp, where the tests are: what matters is what the host has then.
  written("../super/.git/config ../super/.git/made ../super/made");
  EXPECT_EQ(outside("test ! -e super/.git/made && test ! -e super/made").exit_code, 0);
  EXPECT_THAT(outside("cat super/.git/config").out, Not(HasSubstr("hostile")));
  if (!without_namespaces()) {
    EXPECT_EQ(written("../super/.git/modules/workspace/config "
                      "../super/.git/modules/workspace/hooks/post-commit"),
              "");
  }
}

TEST_P(GitDirectories, RepositoriesFurtherDownKeepTheirHooks) {
  BAWN_REQUIRE("git");
  if (without_namespaces()) {
    GTEST_SKIP() << "protected names are held by mounts only";
  }
  prepare("git init -q workspace/a/b/proj");
  const auto result = run("cd a/b/proj && echo x > f && git add f && git commit -qm first");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(written("a/b/proj/.git/hooks/pre-commit a/b/proj/.git/config a/b/proj/g"),
            "wrote a/b/proj/g\n");
  EXPECT_NE(run("mv a moved").exit_code, 0) << "it would carry the names off";
}

INSTANTIATE_TEST_SUITE_P(By, GitDirectories,
                         testing::Values(Starter::Caller, Starter::OrdinaryUser),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace bawn::test
