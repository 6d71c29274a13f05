// Git directories that a survey finds: those it opens, and those whose names it protects. The files
// are made by hand, so that they can also be what git would never make.
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/widen.hpp"
#include "samples.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {
namespace {

namespace fs = std::filesystem;
using test::policy_named;
using test::TempDir;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SurveyGit : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"home/.ssh", "state", "ws"}) {
      fs::create_directories(directory.path() / name);
    }
    ::setenv("HOME", path("home").c_str(), 1);
    ::setenv("BAWN_RUNTIME_DIR", path("state").c_str(), 1);
    policy.run_as = RunAs::Caller;
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (fs::canonical(directory.path()) / name).string();
  }
  /// What `git init` leaves.
  void repository(const std::string& name) const {
    for (const char* part : {"hooks", "info", "objects", "refs", "logs"}) {
      fs::create_directories(directory.path() / name / part);
    }
    directory.write(name + "/HEAD", "ref: refs/heads/main\n");
    directory.write(name + "/config", "[core]\n\tbare = false\n");
  }
  /// `ws` as a linked worktree of `common`.
  void worktree(const std::string& common, const std::string& back) const {
    repository(common);
    const std::string own = common + "/worktrees/ws";
    fs::create_directories(directory.path() / own);
    directory.write(own + "/HEAD", "ref: refs/heads/topic\n");
    directory.write(own + "/commondir", "../..\n");
    directory.write(own + "/gitdir", back + "\n");
    directory.write("ws/.git", "gitdir: " + path(own) + "\n");
  }
  /// `ws` as a submodule whose git directory is `own`.
  void submodule(const std::string& own, const std::string& back) const {
    repository(own);
    directory.write(own + "/config", "[core]\n\tworktree = " + back + "\n");
    directory.write("ws/.git", "gitdir: ../" + own + "\n");
  }
  [[nodiscard]] Place look() const { return look_at("ws"); }
  [[nodiscard]] Place look_at(const std::string& workspace) const {
    auto place = survey(policy, path(workspace), {}, SurveyScope::MountsOnly);
    EXPECT_TRUE(place) << place.error().message();
    return place ? *std::move(place) : Place();
  }

  TempDir directory;
  Policy policy = policy_named("workspace-write");
};

TEST_F(SurveyGit, ALinkedWorktreeGetsWhatACommitWritesAndNothingElse) {
  worktree("main/.git", path("ws/.git"));
  fs::create_directories(directory.path() / "main/.git/worktrees/other");
  const Place place = look();
  EXPECT_THAT(place.writable_roots,
              ElementsAre(path("ws"), path("main/.git/worktrees/ws"), path("main/.git/objects"),
                          path("main/.git/refs"), path("main/.git/logs")));
  for (const char* name : {"commondir", "gitdir"}) {
    EXPECT_THAT(place.existing_protected, Contains(path("main/.git/worktrees/ws/") + name));
  }
  EXPECT_THAT(place.missing_protected, Contains(path("main/.git/worktrees/ws/config.worktree")));
  EXPECT_THAT(place.existing_protected, Contains(path("ws/.git")));
}

TEST_F(SurveyGit, ARelativeWayBackIsOneToo) {
  worktree("main/.git", "../../../../ws/.git");
  EXPECT_THAT(look().writable_roots, Contains(path("main/.git/objects")));
}

TEST_F(SurveyGit, ASubmoduleGetsItsOwnDirectoryWithItsNamesHeld) {
  submodule("super/.git/modules/ws", "../../../../ws");
  const Place place = look();
  const std::string own = path("super/.git/modules/ws");
  EXPECT_THAT(place.writable_roots, ElementsAre(path("ws"), own));
  for (const char* name : {"/hooks", "/config"}) {
    EXPECT_THAT(place.existing_protected, Contains(own + name));
  }
  EXPECT_THAT(place.missing_protected, Contains(own + "/commondir"));
}

TEST_F(SurveyGit, AFileThatNobodyLeadsBackToOpensNothing) {
  const auto opened = [&] { return look().writable_roots; };
  worktree("main/.git", path("elsewhere/.git"));
  EXPECT_THAT(opened(), ElementsAre(path("ws")));
  worktree("main/.git", path("ws/.git"));
  EXPECT_THAT(opened(), Not(ElementsAre(path("ws")))) << "the control";
  // A worktree's directory anywhere else than in its common directory.
  worktree("evil", path("ws/.git"));
  directory.write("evil/worktrees/ws/commondir", path("main/.git") + "\n");
  EXPECT_THAT(opened(), ElementsAre(path("ws")));
  submodule("plain", "../somewhere");
  EXPECT_THAT(opened(), ElementsAre(path("ws")));
  repository("plain");
  EXPECT_THAT(opened(), ElementsAre(path("ws"))) << "without core.worktree";
  fs::create_directories(directory.path() / "home/files");
  for (const std::string& text :
       {path("home/files"), std::string("/"), std::string("/no/such"), std::string()}) {
    directory.write("ws/.git", "gitdir: " + text + "\n");
    EXPECT_THAT(opened(), ElementsAre(path("ws"))) << text;
  }
}

TEST_F(SurveyGit, SecretsAndBawnsOwnStateStayClosed) {
  worktree("home/.ssh/git", path("ws/.git"));
  EXPECT_THAT(look().writable_roots, ElementsAre(path("ws")));
  worktree("state/git", path("ws/.git"));
  EXPECT_THAT(look().writable_roots, ElementsAre(path("ws")));
  worktree("main", path("ws/.git"));
  EXPECT_THAT(look().writable_roots, Contains(path("main/objects"))) << "the control";
  fs::create_directories(directory.path() / "main/key");
  policy.secrets.push_back(path("main/key"));
  EXPECT_THAT(look().writable_roots, ElementsAre(path("ws")));
}

TEST_F(SurveyGit, AReadOnlyWorkspaceOpensNothing) {
  worktree("main/.git", path("ws/.git"));
  policy.write_workspace = false;
  EXPECT_THAT(look().writable_roots, IsEmpty());
}

TEST_F(SurveyGit, AWritableGitDirectoryKeepsItsNames) {
  repository("proj/.git");
  directory.write("proj/.git/info/attributes", "");
  for (const char* root : {"proj/.git", "proj"}) {
    policy.write = {path(root)};
    const Place place = look();
    for (const char* name : {"hooks", "config", "info/attributes"}) {
      EXPECT_THAT(place.existing_protected, Contains(path("proj/.git/") + name)) << root;
    }
    for (const char* name : {"commondir", "config.worktree"}) {
      EXPECT_THAT(place.missing_protected, Contains(path("proj/.git/") + name)) << root;
    }
  }
  policy.write = {path("proj/.git/info")};
  EXPECT_THAT(look().existing_protected, Contains(path("proj/.git/info/attributes")));
  policy.write = {path("proj/.git")};
  std::erase(policy.protected_names, ".git/hooks");
  EXPECT_THAT(look().existing_protected, Not(Contains(path("proj/.git/hooks"))));
}

TEST_F(SurveyGit, RepositoriesInARepositoryKeepTheirNames) {
  repository("ws/.git");
  repository("ws/.git/modules/part");
  repository("ws/.git/modules/deep/er");
  repository("ws/.git/modules/part/modules/inner");
  fs::create_directories(directory.path() / "ws/.git/worktrees/two");
  directory.write("ws/.git/worktrees/two/HEAD", "x");
  directory.write("ws/.git/worktrees/two/commondir", "../..");
  const Place place = look();
  for (const char* name :
       {"", "/modules/part", "/modules/deep/er", "/modules/part/modules/inner"}) {
    EXPECT_THAT(place.existing_protected, Contains(path("ws/.git") + name + "/hooks"));
    EXPECT_THAT(place.existing_protected, Contains(path("ws/.git") + name + "/config"));
  }
  EXPECT_THAT(place.existing_protected, Contains(path("ws/.git/worktrees/two/commondir")));
  EXPECT_THAT(place.existing_protected, Not(Contains(path("ws/.git/modules"))))
      << "commits in submodules write there";
}

TEST_F(SurveyGit, RepositoriesFurtherDownKeepTheirNamesWithinBounds) {
  repository("ws/a/.git");
  repository("ws/a/b/c/d/.git");
  repository("ws/a/b/c/d/e/.git");
  repository("ws/bare.git");
  repository("ws/node_modules/x/.git");
  directory.write("ws/part/.git", "gitdir: ../elsewhere\n");
  fs::create_directories(directory.path() / "ws/half/.git/hooks");
  fs::create_directory_symlink(path("ws/a"), directory.path() / "ws/link");
  const Place place = look();
  for (const char* held :
       {"ws/a/.git/hooks", "ws/a/b/c/d/.git/config", "ws/bare.git/hooks", "ws/part/.git"}) {
    EXPECT_THAT(place.existing_protected, Contains(path(held)));
  }
  for (const char* left :
       {"ws/a/b/c/d/e/.git/hooks", "ws/node_modules/x/.git/hooks", "ws/link/.git/hooks"}) {
    EXPECT_THAT(place.existing_protected, Not(Contains(path(left))));
  }
}

TEST_F(SurveyGit, WhatTheBoundCutOffIsTold) {
  for (int i = 0; i < 70; ++i) {
    repository(fmt::format("ws/{:02}/.git", i));
  }
  const Place place = look();
  EXPECT_THAT(place.existing_protected, Contains(path("ws/10/.git/hooks")));
  EXPECT_THAT(place.existing_protected, Not(Contains(path("ws/69/.git/hooks"))));
  // All of it, at whatever depth the search ended.
  constexpr std::string_view kBelow = "/**/.git";
  for (int i = 0; i < 70; ++i) {
    const std::string git = path(fmt::format("ws/{:02}/.git", i));
    const auto tells = [&](const std::string& name) {
      return name.ends_with(kBelow) &&
             git.starts_with(name.substr(0, name.size() - kBelow.size()) + "/");
    };
    EXPECT_TRUE(std::ranges::find(place.existing_protected, git + "/hooks") !=
                    place.existing_protected.end() ||
                std::ranges::any_of(place.missing_protected, tells))
        << git;
  }
}

TEST_F(SurveyGit, ALinkInTheNameOfANestedGitDirectoryIsListed) {
  repository("elsewhere/.git");
  std::filesystem::create_directories(path("ws/sub"));
  std::filesystem::create_directory_symlink(path("elsewhere/.git"), path("ws/sub/.git"));
  EXPECT_THAT(look().missing_protected, Contains(path("ws/sub/.git")));
}

TEST_F(SurveyGit, WhatIsNamedIsProtectedWhereverTheSearchEnds) {
  for (int i = 0; i < 70; ++i) {
    repository(fmt::format("ws/{:02}/.git", i));
  }
  repository("proj.git");
  policy.write = {path("proj.git")};
  EXPECT_THAT(look().existing_protected, Contains(path("proj.git/hooks")));
}

TEST_F(SurveyGit, AHeadThatIsAwayForAMomentTakesNoProtectionAway) {
  repository("ws/.git");
  repository("ws/.git/modules/part");
  repository("ws/a/.git");
  for (const char* name : {"ws/.git", "ws/.git/modules/part", "ws/a/.git"}) {
    fs::remove(directory.path() / name / "HEAD");
    EXPECT_THAT(look().existing_protected, Contains(path(name) + "/hooks"));
  }
}

TEST_F(SurveyGit, NoNameOfGitsMeansNoSearch) {
  repository("ws/a/.git");
  policy.protected_names = {".envrc"};
  EXPECT_THAT(look().existing_protected, IsEmpty());
}

TEST_F(SurveyGit, OpeningAGitNameNeedsAWordOfItsOwnWhereverItLies) {
  repository("proj/.git");
  repository("ws/a/.git");
  const Place place = look();
  const auto ask = [&](const std::vector<std::string>& paths) {
    std::vector<std::string> wanted;
    for (const std::string& one : paths) {
      wanted.push_back(path(one));
    }
    return widen(policy, place, {.write = wanted});
  };
  const auto whole = ask({"proj/.git"});
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_THAT(whole->protected_names, IsEmpty());
  EXPECT_THAT(whole->policy.protected_names, Contains(".git/hooks"));

  const auto hooks = ask({"proj/.git/hooks"});
  ASSERT_TRUE(hooks) << hooks.error().message();
  EXPECT_THAT(hooks->protected_names, ElementsAre(path("proj/.git/hooks")));
  EXPECT_THAT(hooks->policy.protected_names, Contains(".git/hooks")) << "all others stay held";

  const auto config = ask({"proj/.git", "proj/.git/config"});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_THAT(config->protected_names, ElementsAre(".git/config"));
  EXPECT_THAT(config->policy.protected_names, Not(Contains(".git/config")));
  const auto alone = ask({"proj/.git/config"});
  ASSERT_FALSE(alone);
  EXPECT_THAT(std::string(alone.error().message()), HasSubstr("before it in the same request"));

  const auto nested = ask({"ws/a/.git/hooks"});
  ASSERT_TRUE(nested) << nested.error().message();
  EXPECT_THAT(nested->protected_names, ElementsAre(".git/hooks"));
}

}  // namespace
}  // namespace bawn::sandbox
