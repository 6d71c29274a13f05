#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/own_state.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/wall.hpp"
#include "bawn/sandbox/widen.hpp"
#include "samples.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace bawn::sandbox {
namespace {

namespace fs = std::filesystem;
using test::policy_named;
using test::TempDir;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

/// A home with a workspace below, and the environment that points at them. Each test runs in a
/// process of its own, so the environment is free to change.
class Survey : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(workspace);
    fs::create_directories(state);
    ::setenv("HOME", home.c_str(), 1);
    ::setenv("BAWN_RUNTIME_DIR", state.c_str(), 1);
    policy.run_as = RunAs::Caller;
  }
  Result<Place> look(const std::string& session = {}) {
    return survey(policy, workspace.string(), session);
  }

  TempDir directory;
  fs::path home = directory.path() / "home";
  fs::path workspace = home / "project";
  fs::path state = home / "state";
  Policy policy = policy_named("workspace-write");
};

TEST_F(Survey, FindsSecretsThatExistWithoutLinksAndKnowsDirectories) {
  fs::create_directories(home / ".ssh");
  directory.write("home/real-netrc", "secret");
  fs::create_symlink(home / "real-netrc", home / ".netrc");
  const auto place = look();
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->existing_secrets, Contains((home / ".ssh").string()));
  EXPECT_THAT(place->secret_directories, Contains((home / ".ssh").string()));
  EXPECT_THAT(place->existing_secrets, Contains((home / "real-netrc").string()));
  EXPECT_THAT(place->existing_secrets, Not(Contains((home / ".aws").string())));
  EXPECT_THAT(place->existing_secrets, Contains(state.string())) << "bawn's own state";
}

TEST_F(Survey, WhatLinksInASecretDirectoryLeadToIsSecretAsWell) {
  fs::create_directories(home / ".ssh");
  directory.write("home/dot/id_ed", "key");
  directory.write("home/project/config", "x");
  directory.write("home/dot/other", "not linked");
  fs::create_symlink("../dot/id_ed", home / ".ssh/id_ed25519");
  fs::create_symlink(workspace / "config", home / ".ssh/config");
  fs::create_symlink("/etc/passwd", home / ".ssh/system");
  fs::create_directory_symlink(home / "dot", home / ".ssh/directory");
  fs::create_symlink("nowhere", home / ".ssh/dangling");
  const auto place = look();
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->existing_secrets, Contains((home / "dot/id_ed").string()));
  EXPECT_THAT(place->existing_secrets, Contains((workspace / "config").string()));
  for (const std::string& open :
       {std::string("/etc/passwd"), (home / "dot").string(), (home / "dot/other").string()}) {
    EXPECT_THAT(place->existing_secrets, Not(Contains(open)));
  }
  EXPECT_THAT(place->readable_without_secrets, Contains((home / "dot/other").string()));
  EXPECT_THAT(place->readable_without_secrets, Not(Contains((home / "dot/id_ed").string())));
}

TEST_F(Survey, KnowsTheAccountsHomeWhateverTheVariableSays) {
  const passwd* account = ::getpwuid(::geteuid());
  if (account == nullptr || !fs::is_directory(account->pw_dir)) {
    GTEST_SKIP() << "this user has no home";
  }
  const std::string real = fs::canonical(account->pw_dir).string();
  for (const char* said : {home.c_str(), "/nonexistent", "", "relative"}) {
    ::setenv("HOME", said, 1);
    const auto place = look();
    ASSERT_TRUE(place) << place.error().message();
    EXPECT_THAT(place->account_homes, Contains(real)) << said;
  }
}

TEST_F(Survey, RefusesASecretThatIsALinkToSomethingThatMustStayUsable) {
  fs::create_directory_symlink("/usr", home / ".aws");
  const auto place = look();
  ASSERT_FALSE(place);
  EXPECT_THAT(place.error().message(), HasSubstr("is a link to /usr"));
}

TEST_F(Survey, ListsSiblingsOfSecretsAndNeverTheSecrets) {
  fs::create_directories(home / ".ssh");
  directory.write("home/notes", "x");
  const auto place = look();
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->readable_without_secrets, Contains((home / "notes").string()));
  EXPECT_THAT(place->readable_without_secrets, Not(Contains((home / ".ssh").string())));
  EXPECT_THAT(place->readable_without_secrets, Not(Contains(home.string())));
  EXPECT_THAT(place->readable_without_secrets, Not(Contains("/dev")));
}

TEST_F(Survey, SharedMemoryHoldsWorkspacesAndSecretsLikeOtherPlaces) {
  if (::access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "/dev/shm cannot be written here";
  }
  const test::TempDir shared("/dev/shm");
  const std::string key = shared.write("key", "x");
  fs::create_directories(home / ".ssh");
  fs::create_symlink(key, home / ".ssh/id_ed25519");
  const fs::path project = shared.path() / "project";
  fs::create_directory(project);
  const auto place = survey(policy, project.string(), {});
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->existing_secrets, Contains(key));
  EXPECT_THAT(place->readable_without_secrets, Contains(project.string()));
  EXPECT_THAT(place->readable_without_secrets, Not(Contains(key)));
}

TEST_F(Survey, RootsAloneAreThoseOfAWholeSurveyWithoutWhatIsProtectedBelow) {
  fs::create_directories(workspace / "deep/.git/hooks");
  directory.write("home/project/deep/.git/HEAD", "ref: refs/heads/main\n");
  const auto whole = survey(policy, workspace.string(), {});
  const auto roots = survey(policy, workspace.string(), {}, SurveyScope::Roots);
  ASSERT_TRUE(whole && roots);
  EXPECT_EQ(roots->workspace, whole->workspace);
  EXPECT_EQ(roots->writable_roots, whole->writable_roots);
  EXPECT_THAT(whole->existing_protected, Contains((workspace / "deep/.git/hooks").string()));
  EXPECT_THAT(roots->existing_protected, Not(Contains((workspace / "deep/.git/hooks").string())));
  EXPECT_FALSE(roots->has_siblings);
}

TEST_F(Survey, ACheckOfTheWallGivesTheWorkspaceAndRefusesAsTheForecastDoes) {
  const auto request = [&](const std::string& path) {
    return WallRequest{.policy = policy, .workspace = path, .session_dir = {}, .warden = {}};
  };
  const auto checked = check_wall(request(workspace.string() + "/../project"));
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(*checked, workspace.string());
  for (const std::string& path :
       {std::string("/"), std::string("/proc"), state.string(), (home / "absent").string()}) {
    const auto refused = check_wall(request(path));
    const auto forecast = forecast_wall(request(path));
    ASSERT_TRUE(!refused && !forecast) << path;
    EXPECT_EQ(refused.error().message(), forecast.error().message());
  }
}

TEST_F(Survey, LeavesSiblingsOutWhenMountsHideSecrets) {
  const auto place = survey(policy, workspace.string(), {}, SurveyScope::MountsOnly);
  ASSERT_TRUE(place);
  EXPECT_FALSE(place->has_siblings);
  EXPECT_TRUE(place->readable_without_secrets.empty());
}

TEST_F(Survey, SortsProtectedNamesByWhetherABindCanHoldThem) {
  fs::create_directories(workspace / ".git" / "hooks");
  fs::create_directory_symlink("/usr", workspace / ".vscode");
  const auto place = look();
  ASSERT_TRUE(place);
  EXPECT_THAT(place->existing_protected, Contains((workspace / ".git/hooks").string()));
  EXPECT_THAT(place->missing_protected, Contains((workspace / ".vscode").string()))
      << "a link can be replaced";
  EXPECT_THAT(place->missing_protected, Contains((workspace / ".envrc").string()));
}

TEST_F(Survey, TheGitFileOfAWorktreeIsProtectedItself) {
  directory.write("home/project/.git", "gitdir: /elsewhere");
  const auto place = look();
  ASSERT_TRUE(place);
  EXPECT_THAT(place->existing_protected, Contains((workspace / ".git").string()));
}

TEST_F(Survey, FindsTheHostsListeningUnixSockets) {
  const std::string path = (home / "s").string();
  const os::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto place = look();
  ASSERT_TRUE(place);
  EXPECT_THAT(place->host_sockets, Contains(path));
}

TEST_F(Survey, RefusesWorkspacesThatCannotBeWalledIn) {
  const auto refusal = [&](const std::string& path) {
    const auto place = survey(policy, path, {});
    return place ? std::string("accepted") : place.error().message();
  };
  EXPECT_THAT(refusal("/"), HasSubstr("must not be \"/\""));
  for (const char* path : {"/proc/self", "/sys/kernel", "/dev", "/dev/shm/../pts"}) {
    EXPECT_THAT(refusal(path), HasSubstr("must not lie in /proc, /sys or /dev")) << path;
  }
  EXPECT_THAT(refusal(directory.write("file", "").string()), HasSubstr("not a directory"));
  EXPECT_THAT(refusal((home / "absent").string()), HasSubstr("No such file"));
  EXPECT_THAT(refusal(state.string()), HasSubstr("bawn's own"));
}

/// An earlier session, or whoever wrote the repository, would decide what is writable.
TEST_F(Survey, RefusesAWritableRootThatALinkInARootLeadsTo) {
  fs::create_directories(home / "elsewhere/sub");
  fs::create_directory_symlink(home / "elsewhere", workspace / "link");
  fs::create_directory_symlink(workspace / "link/sub", home / "by-two");
  fs::create_directory_symlink(home / "elsewhere", home / "dotfiles");
  for (const fs::path& path : {workspace / "link", workspace / "link/sub",
                               workspace / "../project/link", home / "by-two"}) {
    policy.write = {path.string()};
    for (const bool writable : {true, false}) {
      policy.write_workspace = writable;
      const auto place = look();
      ASSERT_FALSE(place) << path;
      EXPECT_THAT(place.error().message(), HasSubstr((workspace / "link").string() + " leads to"));
    }
  }
  policy.write = {(home / "dotfiles").string()};
  const auto place = look();
  ASSERT_TRUE(place) << "a link of the user's own: " << place.error().message();
  EXPECT_THAT(place->writable_roots, Contains((home / "elsewhere").string()));
}

TEST_F(Survey, RefusesAWritableRootThatAnotherUsersLinkLeadsTo) {
  BAWN_REQUIRE("root");
  constexpr uid_t kAnother = 12345;
  const fs::path shared = directory.path() / "shared";
  fs::create_directories(shared / "theirs");
  fs::permissions(shared, fs::perms::all | fs::perms::sticky_bit);
  for (const fs::path& link : {shared / "link", shared / "theirs/link"}) {
    fs::create_directory_symlink(home, link);
    policy.write = {link.string()};
    EXPECT_TRUE(look()) << link << ": root's own, the control";
  }
  ASSERT_EQ(::lchown((shared / "link").c_str(), kAnother, kAnother), 0);
  ASSERT_EQ(::chown((shared / "theirs").c_str(), kAnother, kAnother), 0);
  for (const fs::path& link : {shared / "link", shared / "theirs/link"}) {
    policy.write = {link.string()};
    const auto place = look();
    ASSERT_FALSE(place) << link;
    EXPECT_THAT(place.error().message(), HasSubstr("another user could have made that link"));
  }
}

TEST_F(Survey, LeavesOutWritableRootsThatLeadNowhere) {
  fs::create_symlink("nowhere", workspace / "dangling");
  fs::create_symlink("round", workspace / "round");
  policy.write = {(workspace / "dangling").string(), (workspace / "round/x").string(),
                  (workspace / "missing/../dangling").string(), "/missing/x", "/etc/passwd/../ssl"};
  const auto place = look();
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->writable_roots, testing::ElementsAre(workspace.string()));
}

TEST_F(Survey, RefusesAWritableRootThatIsTheKernels) {
  for (const char* path : {"/proc", "/proc/self", "/sys/kernel", "/dev"}) {
    policy.write = {path};
    const auto place = look();
    ASSERT_FALSE(place) << path;
    EXPECT_THAT(place.error().message(),
                HasSubstr(std::string("the policy's write names ") + path));
  }
  policy.write = {"/dev/shm", "/proc/is-not-there"};
  const auto place = look();
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->writable_roots, Contains(fs::canonical("/dev/shm").string()));
}

TEST_F(Survey, RefusesAWritableRootThatWouldHoldBawnsStateOrSession) {
  fs::create_directories(workspace / "session");
  const auto session = look((workspace / "session").string());
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message(), HasSubstr("the session directory"));
  ::setenv("BAWN_RUNTIME_DIR", (workspace / "not-there").c_str(), 1);
  const auto place = look();
  ASSERT_FALSE(place);
  EXPECT_THAT(place.error().message(), HasSubstr("make that directory first"));
}

TEST_F(Survey, RefusesAWritableRootThatWouldOpenBawnsState) {
  const auto refused = [&](const std::string& root) {
    policy.write = {root};
    const auto place = look();
    return !place && place.error().message().find("bawn's own state") != std::string::npos;
  };
  fs::create_directories(state / "records");
  EXPECT_TRUE(refused(state.string()));
  EXPECT_TRUE(refused((state / "records").string()));
  EXPECT_FALSE(refused(home.string())) << "there it is masked";
  policy.best_effort = true;
  EXPECT_TRUE(refused(home.string())) << "there may be no mounts";
  policy.best_effort = false;
  BAWN_REQUIRE("root");
  const TempDir below_run("/run");
  ::setenv("BAWN_RUNTIME_DIR", below_run.path().c_str(), 1);
  EXPECT_TRUE(refused("/run")) << "the private /run would show it";
}

TEST_F(Survey, WhatTheProgramKeepsHiddenIsASecretThatNoRequestOpens) {
  const std::string token = directory.write("home/token", "secret").string();
  keep_hidden(token);
  policy.write = {home.string()};
  const auto place = look();
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->existing_secrets, IsSupersetOf({token, state.string()}));
  EXPECT_THAT(place->secret_directories, Contains(state.string()));
  for (const std::string& own : {token, state.string()}) {
    const auto read = widen(policy, *place, {.write = {}, .read = {own}, .hosts = {}});
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message(), HasSubstr("bawn's own"));
    const auto written = widen(policy, *place, {.write = {own}, .read = {}, .hosts = {}});
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message(), HasSubstr("lies in a secret"));
  }
  policy.write.clear();
  const auto around = widen(policy, *look(), {.write = {home.string()}, .read = {}, .hosts = {}});
  ASSERT_FALSE(around);
  EXPECT_THAT(around.error().message(), HasSubstr("bawn's own"));
}

TEST_F(Survey, AHomeAsWorkspaceIsTakenWithItsSecretsListed) {
  fs::create_directories(home / ".ssh");
  fs::create_directories(state / "sessions" / "1");
  const auto place = survey(policy, home.string(), (state / "sessions" / "1").string());
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->existing_secrets, Contains((home / ".ssh").string()));
  EXPECT_THAT(place->existing_secrets, Contains(state.string()));
}

TEST_F(Survey, RunsAsTheWorkspacesOwnerWhenRootAsksForNothingElse) {
  BAWN_REQUIRE("root");
  ASSERT_EQ(::chown(workspace.c_str(), 12345, 12346), 0);
  policy.run_as = RunAs::WorkspaceOwner;
  const auto owner = look();
  ASSERT_TRUE(owner) << owner.error().message();
  EXPECT_EQ(owner->uid, 12345U);
  EXPECT_EQ(owner->gid, 12346U);
  EXPECT_EQ(owner->user, "12345") << "without an account the number";
  policy.run_as = RunAs::Root;
  EXPECT_EQ(look()->uid, 0U);
}

TEST_F(Survey, UnconfinedLooksAtNothingButTheWorkspace) {
  fs::create_directories(home / ".ssh");
  policy = policy_named("unconfined");
  const auto place = look();
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->existing_secrets.empty());
  EXPECT_EQ(place->workspace, workspace.string());
}

}  // namespace
}  // namespace bawn::sandbox
