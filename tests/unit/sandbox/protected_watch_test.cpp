#include "bawn/sandbox/protected_watch.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

namespace bawn::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = ProtectedChange::Kind;

class ProtectedWatchTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const {
    return (root_.path() / name).string();
  }
  [[nodiscard]] std::shared_ptr<ProtectedWatch> watch(const std::vector<std::string>& existing,
                                                      const std::vector<std::string>& missing,
                                                      bool held = false) const {
    Place place;
    place.writable_roots = {fs::canonical(root_.path()).string()};
    for (const std::string& name : existing) {
      place.existing_protected.push_back(place.writable_roots[0] + "/" + name);
    }
    for (const std::string& name : missing) {
      place.missing_protected.push_back(place.writable_roots[0] + "/" + name);
    }
    return ProtectedWatch::start(place, held);
  }

  test::TempDir root_;
};

TEST_F(ProtectedWatchTest, NamesWhatAppearsChangesAndGoesOnce) {
  root_.write(".bashrc", "old\n");
  const auto watched = watch({".bashrc"}, {".envrc", ".vscode"});
  ASSERT_NE(watched, nullptr);
  EXPECT_THAT(watched->look(), IsEmpty());
  root_.write(".envrc", "x\n");
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".envrc"), Kind::Appeared}));
  EXPECT_THAT(watched->look(), IsEmpty());
  root_.write(".bashrc", "another text\n");
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".bashrc"), Kind::Changed}));
  fs::remove(at(".envrc"));
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".envrc"), Kind::Removed}));
  EXPECT_THAT(watched->look(), IsEmpty());
}

TEST_F(ProtectedWatchTest, SeesNamesBelowDirectoriesThatDidNotExist) {
  const auto watched = watch({}, {".git/hooks", ".git/config"});
  fs::create_directories(at(".git/hooks"));
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".git/hooks"), Kind::Appeared}));
  root_.write(".git/config", "[core]\n");
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".git/config"), Kind::Appeared}));
}

TEST_F(ProtectedWatchTest, ComparesWhatLiesInADirectory) {
  fs::create_directories(at(".git/hooks"));
  const auto watched = watch({".git/hooks"}, {});
  EXPECT_THAT(watched->look(), IsEmpty());
  root_.write(".git/hooks/pre-commit", "#!/bin/sh\n");
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".git/hooks"), Kind::Changed}));
  ASSERT_EQ(::chmod(at(".git/hooks/pre-commit").c_str(), 0755), 0);
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".git/hooks"), Kind::Changed}));
}

TEST_F(ProtectedWatchTest, FollowsNoLink) {
  const test::TempDir outside;
  outside.write("config", "x");
  const auto watched = watch({}, {".git/config", ".envrc"});
  fs::create_directory_symlink(outside.path(), at(".git"));
  EXPECT_THAT(watched->look(), IsEmpty()) << ".git leads out: what lies there is not the root's";
  fs::create_symlink(outside.path() / "config", at(".envrc"));
  EXPECT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".envrc"), Kind::Appeared}));
}

TEST_F(ProtectedWatchTest, MissesNothingThatComesRightAfterALook) {
  const auto watched = watch({}, {".envrc"});
  for (int round = 0; round < 200; ++round) {
    root_.write("other", "x");
    EXPECT_THAT(watched->look(), IsEmpty());
    root_.write(".envrc", "x");
    ASSERT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".envrc"), Kind::Appeared}))
        << round;
    fs::remove(at(".envrc"));
    ASSERT_THAT(watched->look(), ElementsAre(ProtectedChange{at(".envrc"), Kind::Removed}))
        << round;
  }
}

TEST_F(ProtectedWatchTest, IsNotThereWithoutNames) {
  EXPECT_EQ(watch({}, {}), nullptr);
}

}  // namespace
}  // namespace bawn::sandbox
