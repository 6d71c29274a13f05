// Attacks on files, at the agent: each is refused or stays inside, in every mode of the wall, as
// root's session and as an ordinary user's; each beside something like it that works.
#include "walled_files.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

namespace {

using bawn::sandbox::Condition;
using bawn::sandbox::Error;
using bawn::sandbox::FileAgent;
using bawn::sandbox::FileFailure;
using bawn::test::errno_of;
using bawn::test::kind_of;
using bawn::test::read_file;
using Kind = FileFailure::Kind;
namespace fs = std::filesystem;

class FileEscapeTest : public bawn::test::WalledFiles {
 protected:
  /// The layers say EROFS or EACCES, the agent Outside.
  void expect_denied(const Error& error) const {
    if (GetParam().agent_holds) {
      EXPECT_EQ(kind_of(error), Kind::Outside) << error.message();
    } else {
      EXPECT_THAT(errno_of(error), testing::AnyOf(EROFS, EACCES)) << error.message();
    }
    EXPECT_EQ(error.code(), bawn::contract::ErrorCode::PermissionDenied) << error.message();
  }

  void expect_write_denied(const std::string& path, bool make_parents = false) {
    const auto written = write(path, "escaped", {}, make_parents);
    ASSERT_FALSE(written) << path;
    expect_denied(written.error());
  }

  void expect_nothing_escaped() const {
    EXPECT_EQ(read_file(out("file")), "outside\n");
    for (const auto& entry : fs::directory_iterator(outside_)) {
      EXPECT_EQ(entry.path().filename(), "file");
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, FileEscapeTest,
                         testing::Values(bawn::test::kAllLayers, bawn::test::kLandlock,
                                         bawn::test::kNoLayer, bawn::test::kUnconfined),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileEscapeTest, OutsideByItsOwnName) {
  expect_write_denied(out("file"));
  expect_write_denied(out("new"));
  expect_denied(files_->remove_file(now_, out("file"), {}).error());
  expect_denied(files_->make_directory(now_, out("dir"), {}).error());
  put(in("a"), "one");
  EXPECT_FALSE(files_->rename(now_, in("a"), out("a"), {}));
  EXPECT_FALSE(files_->rename(now_, out("file"), in("b"), {}));
  expect_nothing_escaped();
  EXPECT_TRUE(write(in("a"), "two"));  // control
}

TEST_P(FileEscapeTest, DanglingLink) {
  fs::create_symlink(out("new"), in("absolute"));
  fs::create_symlink("../out/new", in("relative"));
  fs::create_symlink("inside", in("control"));
  expect_write_denied(in("absolute"));
  expect_write_denied(in("relative"));
  expect_nothing_escaped();
  EXPECT_TRUE(write(in("control"), "x"));
  EXPECT_EQ(read_file(in("inside")), "x");
}

TEST_P(FileEscapeTest, AncestorLinkAndMissingParentBehindIt) {
  fs::create_symlink(out(""), in("l"));
  fs::create_directory(in("dir"));
  ::lchown(in("dir").c_str(), ::geteuid() == 0 ? 4242U : ::geteuid(), static_cast<gid_t>(-1));
  fs::create_symlink("dir", in("control"));
  expect_write_denied(in("l/file"));
  expect_write_denied(in("l/new"));
  expect_write_denied(in("l/missing/new"), true);
  expect_denied(files_->remove_file(now_, in("l/file"), {}).error());
  expect_denied(files_->make_directory(now_, in("l/x/y"), {.parents = true}).error());
  expect_nothing_escaped();
  EXPECT_TRUE(write(in("control/missing/new"), "x", {}, true));
  EXPECT_EQ(read_file(in("dir/missing/new")), "x");
}

TEST_P(FileEscapeTest, DotDotBehindALink) {
  fs::create_directories(out("").substr(0, out("").size() - 1));
  fs::create_symlink(outside_, in("up"));
  const auto stolen = read(in("up/../secret/key"));
  ASSERT_FALSE(stolen);
  expect_write_denied(in("up/../out/file"));
  expect_write_denied(in("up/../new"));
  EXPECT_EQ(errno_of(write(in("missing/../../out/new"), "escaped", {}, true).error()), ENOENT);
  EXPECT_FALSE(fs::exists(in("missing")));
  expect_nothing_escaped();
  fs::create_directory(in("dir"));
  put(in("dir/a"), "x");
  EXPECT_EQ(read(in("dir/../dir/a")).value_or("refused"), "x");  // control
}

TEST_P(FileEscapeTest, SecretsStayUnread) {
  fs::create_symlink(secret_, in("link"));
  fs::create_symlink(fs::path(secret_).parent_path(), in("directory"));
  for (const std::string& path : {secret_, in("link"), in("directory/key")}) {
    const auto opened = files_->open(now_, path);
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().code(), bawn::contract::ErrorCode::PermissionDenied)
        << opened.error().message();
  }
  EXPECT_FALSE(files_->list(now_, fs::path(secret_).parent_path(), {}));
  expect_write_denied(secret_);
  EXPECT_EQ(read_file(secret_), "secret\n");
  put(in("a"), "x");
  EXPECT_EQ(*read(in("a")), "x");  // control
  EXPECT_EQ(read(out("file")).has_value(), !GetParam().agent_holds);
}

TEST_P(FileEscapeTest, HardLinkToOutsideKeepsTheOtherName) {
  ASSERT_EQ(::link(out("file").c_str(), in("h").c_str()), 0);
  const auto status = files_->status(now_, in("h"), FileAgent::Links::Keep);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->links, 2U);
  ASSERT_TRUE(write(in("h"), "mine"));
  EXPECT_EQ(read_file(in("h")), "mine");
  expect_nothing_escaped();
}

TEST_P(FileEscapeTest, MagicLinksOfProc) {
  for (const std::string& path :
       {"/proc/self/root" + out("file"), "/proc/self/cwd" + out("file"),
        std::string("/proc/self/fd/4"), std::string("/proc/thread-self/fd/0"),
        std::string("/proc/1/root/etc/hostname"), std::string("/dev/fd/0"),
        std::string("/dev/stdin")}) {
    const auto opened = files_->open(now_, path);
    ASSERT_FALSE(opened) << path;
    if (GetParam().agent_holds) {
      EXPECT_EQ(kind_of(opened.error()), Kind::Outside) << path;
    } else {
      EXPECT_THAT(errno_of(opened.error()), testing::AnyOf(ELOOP, EACCES, ENOENT, EPERM))
          << opened.error().message();
    }
    EXPECT_FALSE(files_->stage(now_, path, {})) << path;
  }
  fs::create_symlink("/proc/self/root" + out("file"), in("link"));
  EXPECT_FALSE(files_->open(now_, in("link")));
  EXPECT_FALSE(write(in("link"), "escaped"));
  expect_nothing_escaped();
  EXPECT_EQ(files_->open(now_, "/proc/self/status").has_value(), !GetParam().agent_holds);
}

TEST_P(FileEscapeTest, MountPointsAndRootsThemselves) {
  for (const std::string& path : {workspace_, std::string("/proc"), std::string("/")}) {
    EXPECT_FALSE(files_->stage(now_, path, {})) << path;
    EXPECT_FALSE(files_->rename(now_, path, in("moved"), {})) << path;
    EXPECT_FALSE(files_->remove_directory(now_, path)) << path;
  }
  EXPECT_TRUE(fs::is_directory(workspace_));
  fs::create_directory(in("dir"));
  EXPECT_TRUE(files_->rename(now_, in("dir"), in("moved"), {}));  // control
}

TEST_P(FileEscapeTest, ProtectedNames) {
  if (!policy_.enforce) {
    GTEST_SKIP() << "an unconfined session protects none";
  }
  put(in(".git/config"), "[core]\n");
  put(in(".git/description"), "x");
  put(in(".git/hooks/sample"), "x");
  shell("true");
  for (const char* directory : {".git", ".git/hooks"}) {
    ::lchown(in(directory).c_str(), ::geteuid() == 0 ? 4242U : ::geteuid(), static_cast<gid_t>(-1));
  }
  raise();
  for (const char* name : {".git/config", ".git/hooks/pre-commit", ".git/hooks/sample",
                           ".GIT/config", ".envrc", ".git/hooks"}) {
    SCOPED_TRACE(name);
    const auto written = write(in(name), "evil", {}, true);
    ASSERT_FALSE(written);
    EXPECT_NE(kind_of(written.error()), Kind::Changed) << written.error().message();
  }
  EXPECT_EQ(kind_of(write(in(".git/config"), "evil").error()), Kind::Protected);
  EXPECT_EQ(kind_of(write(in(".envrc"), "evil").error()), Kind::Protected);
  EXPECT_EQ(kind_of(files_->remove_file(now_, in(".git/config"), {}).error()), Kind::Protected);
  EXPECT_EQ(kind_of(files_->rename(now_, in(".git"), in("g"), {}).error()), Kind::Protected);
  EXPECT_EQ(kind_of(files_->rename(now_, in(".git/hooks"), in("h"), {}).error()), Kind::Protected);
  EXPECT_EQ(kind_of(files_->set_mode(now_, in(".git/config"), 0777).error()), Kind::Protected);
  put(in("evil/hooks/pre-commit"), "x");
  EXPECT_FALSE(files_->rename(now_, in("evil"), in(".git"), {}));
  fs::create_symlink(".git/config", in("link"));
  EXPECT_EQ(kind_of(write(in("link"), "evil").error()), Kind::Protected);
  EXPECT_EQ(read_file(in(".git/config")), "[core]\n");
  EXPECT_EQ(*read(in(".git/config")), "[core]\n");  // controls
  const auto allowed = write(in(".git/description"), "y");
  EXPECT_TRUE(allowed) << allowed.error().message();
}

TEST_P(FileEscapeTest, LookAlikesAreOtherNames) {
  const std::string composed = "\xc3\xa9";     // é
  const std::string decomposed = "e\xcc\x81";  // e and an accent
  for (const std::string& name :
       {composed, decomposed, std::string("A"), std::string("a"), std::string(".gi\xe2\x80\x8bt"),
        std::string("\xff\xfe"), std::string("..\xe2\x80\xae"), std::string("...")}) {
    const auto written = write(in(name), name);
    ASSERT_TRUE(written) << written.error().message();
  }
  EXPECT_EQ(read_file(in(composed)), composed);
  EXPECT_EQ(read_file(in(decomposed)), decomposed);
  EXPECT_EQ(read_file(in("a")), "a");
  expect_nothing_escaped();
}

TEST_P(FileEscapeTest, SwapRaceNeverLeadsOut) {
  const int writes = bawn::test::swap_writes(1500);
  fs::create_directory(in("r"));
  ::lchown(in("r").c_str(), ::geteuid() == 0 ? 4242U : ::geteuid(), static_cast<gid_t>(-1));
  fs::create_symlink(outside_, in("s"));
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    while (!done) {
      (void)::syscall(SYS_renameat2, AT_FDCWD, in("r").c_str(), AT_FDCWD, in("s").c_str(),
                      RENAME_EXCHANGE);
    }
  });
  int written = 0;
  int refused = 0;
  for (int round = 0; round < writes; ++round) {
    const auto result = write(in("r/f"), "escaped", {.durable = false});
    written += result ? 1 : 0;
    refused += result ? 0 : 1;
    (void)write(in("r/missing/f"), "escaped", {.durable = false}, true);
    (void)files_->remove_file(now_, in("r/file"), {});
    (void)files_->set_mode(now_, in("r/file"), 0777);
    if (!GetParam().agent_holds) {
      continue;
    }
    const auto stolen = read(in("r/file"));
    EXPECT_FALSE(stolen) << "read outside";
  }
  done = true;
  swapper.join();
  EXPECT_GT(written, 0);
  EXPECT_GT(refused, 0);
  expect_nothing_escaped();
  EXPECT_EQ(fs::status(out("file")).permissions(), fs::perms{0644});
}

TEST_P(FileEscapeTest, ModesOfOutsideStay) {
  fs::create_symlink(out("file"), in("link"));
  EXPECT_FALSE(files_->set_mode(now_, out("file"), 0777));
  EXPECT_FALSE(files_->set_mode(now_, in("link"), 0777));
  EXPECT_EQ(fs::status(out("file")).permissions(), fs::perms{0644});
  put(in("a"), "x");
  EXPECT_TRUE(files_->set_mode(now_, in("a"), 0777));  // control
}

TEST(FileEscapeUserTest, AllOfItAsAnOrdinaryUser) {
  BAWN_REQUIRE("root");
  EXPECT_EQ(bawn::test::run_as_ordinary_user(
                "Modes/FileEscapeTest.*:Modes/FileAgentTest.*:Modes/FileAgentLifeTest.*:"
                "Modes/FileAsideTest.*"),
            0);
}

}  // namespace
