/// \file
/// The file agent is killed at every system call that a change makes: then the answer is the truth,
/// and each file is what it was or what it was to become.
#include "../file_agent/killed_agent.hpp"
#include "../file_agent/walled_files.hpp"
#include "one_place.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;

/// What is at a path: content and mode; a directory's is empty.
using Tree = std::map<std::string, std::string>;

class FileCrash : public WalledFiles {
 protected:
  void reset_tree() {
    for (const auto& entry : fs::directory_iterator(workspace_)) {
      fs::remove_all(entry.path());
    }
    put(in("changed"), "old\n");
    put(in("moved"), "old\n", 0640);
    put(in("gone"), "old\n");
    put(in("script"), "text\n", 0644);
  }

  [[nodiscard]] Tree tree() const {
    Tree all;
    for (const auto& entry : fs::recursive_directory_iterator(workspace_)) {
      struct stat status{};
      ::lstat(entry.path().c_str(), &status);
      if (S_ISREG(status.st_mode)) {
        all[entry.path().lexically_relative(workspace_).string()] =
            fmt::format("{:o} {}", status.st_mode & 07777U, read_file(entry.path()));
      }
    }
    return all;
  }

  [[nodiscard]] PlaceTools tools() const {
    files::Place place;
    place.key = place.name = "main";
    place.files = files_;
    place.workspace = workspace_;
    place.home = workspace_;
    place.policy = policy_;
    return {std::move(place), root_.path().string()};
  }

  /// Kills the agent at every system call of `change`, which is begun from `reset` each time.
  void kill_everywhere(const std::function<void()>& reset,
                       const std::function<contract::Outcome()>& change, int least_refused,
                       int least_applied) {
    ASSERT_NO_FATAL_FAILURE(reset());
    const Tree before = tree();
    const auto control = change();
    ASSERT_FALSE(control.error) << control.error->message();
    const Tree after = tree();
    ASSERT_NE(before, after);
    int refused = 0;
    int applied = 0;
    bool killed = true;
    for (int at = 0; killed; ++at) {
      SCOPED_TRACE(at);
      ASSERT_NO_FATAL_FAILURE(reset());
      ASSERT_EQ(tree(), before);
      // A new agent in place of the one that was killed.
      ASSERT_TRUE(files_->status(now_, workspace_, sandbox::FileAgent::Links::Keep));
      std::optional<contract::Error> error;
      killed = run_and_kill(newest_agent(wall_.warden->pid()), at, [&] { error = change().error; });
      ASSERT_EQ(tree(), error ? before : after) << (error ? error->message() : "applied");
      (error ? refused : applied) += 1;
      ASSERT_LT(at, 2000);
    }
    EXPECT_GE(refused, least_refused);  // controls: both happened
    EXPECT_GE(applied, least_applied);
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, FileCrash, testing::Values(kAllLayers, kNoLayer),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(FileCrash, APatchOverSeveralFilesIsMadeWholeOrNotAtAll) {
  BAWN_REQUIRE("root");
  const std::string patch =
      "diff --git a/changed b/changed\n--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-old\n+new\n"
      "diff --git a/moved b/there\nrename from moved\nrename to there\n--- a/moved\n"
      "+++ b/there\n@@ -1 +1 @@\n-old\n+new\n"
      "diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n"
      "@@ -0,0 +1 @@\n+new\n"
      "diff --git a/script b/script\nold mode 100644\nnew mode 100755\n"
      "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
      "@@ -1 +0,0 @@\n-old\n";
  const PlaceTools all = tools();
  reset_tree();
  ASSERT_FALSE(all.run("apply_patch", Json{{"patch", patch}}).error);
  const Tree after = tree();
  ASSERT_EQ(after.size(), 4U);
  ASSERT_FALSE(after.contains("moved"));
  kill_everywhere([&] { reset_tree(); },
                  [&] { return all.run("apply_patch", Json{{"patch", patch}}); }, 11, 4);
}

TEST_P(FileCrash, APatchOfFilesIntoDirectoriesAndBackIsMadeWholeOrNotAtAll) {
  BAWN_REQUIRE("root");
  const PlaceTools all = tools();
  const std::string patch =
      "*** Begin Patch\n*** Delete File: gone\n*** Add File: gone/deep/made\n+new\n"
      "*** Update File: moved\n*** Move to: moved/into/itself\n-old\n+new\n"
      "*** Delete File: directory/only\n*** Add File: directory\n+new\n*** End Patch\n";
  kill_everywhere(
      [&] {
        reset_tree();
        ASSERT_FALSE(
            all.run("write_file",
                    Json{{"path", "directory/only"}, {"content", "old\n"}, {"make_parents", true}})
                .error);
      },
      [&] { return all.run("apply_patch", Json{{"patch", patch}}); }, 11, 4);
}

TEST_P(FileCrash, AnEditIsMadeWholeOrNotAtAll) {
  BAWN_REQUIRE("root");
  const PlaceTools all = tools();
  kill_everywhere([&] { reset_tree(); },
                  [&] {
                    return all.run(
                        "edit_file",
                        Json{{"path", "changed"}, {"old_string", "old"}, {"new_string", "new"}});
                  },
                  5, 1);
}

TEST_P(FileCrash, AWrittenFileIsThereWholeOrNotAtAll) {
  BAWN_REQUIRE("root");
  const PlaceTools all = tools();
  kill_everywhere([&] { reset_tree(); },
                  [&] {
                    return all.run("write_file", Json{{"path", "new/directory/file"},
                                                      {"content", "new\n"},
                                                      {"make_parents", true}});
                  },
                  5, 1);
}

TEST_P(FileCrash, WhatIsUndoneIsUndoneWholeOrNotAtAll) {
  BAWN_REQUIRE("root");
  const PlaceTools all = tools();
  const std::string patch =
      "--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-old\n+new\n"
      "diff --git a/moved b/there\nrename from moved\nrename to there\n"
      "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
      "@@ -1 +0,0 @@\n-old\n";
  std::string call;
  kill_everywhere(
      [&] {
        reset_tree();
        const auto made = all.run("apply_patch", Json{{"patch", patch}});
        ASSERT_FALSE(made.error) << made.error->message();
        call = made.result.structured->value("call", "");
      },
      [&] { return all.run("undo_change", Json{{"call", call}}); }, 11, 2);
}

}  // namespace
}  // namespace bawn::test
