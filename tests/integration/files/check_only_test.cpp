/// \file
/// A patch that is only checked gets the answer that it would get, whatever the answer is, and
/// leaves no trace.
#include "bawn/os/unique_fd.hpp"
#include "file_server.hpp"
#include "support/requirements.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;
using ::testing::HasSubstr;

std::string added(const std::string& path) {
  return fmt::format("*** Add File: {}\n+new\n", path);
}
std::string removed(const std::string& path) {
  return fmt::format("*** Delete File: {}\n", path);
}
std::string edited(const std::string& path) {
  return fmt::format("*** Update File: {}\n-old\n+new\n", path);
}
std::string moved(const std::string& from, const std::string& to, bool changed = false) {
  return fmt::format("*** Update File: {}\n*** Move to: {}\n{}", from, to,
                     changed ? "-old\n+new\n" : "");
}

class CheckOnly : public testing::TestWithParam<WallMode> {
 protected:
  void SetUp() override {
    if (*GetParam().need != '\0') {
      BAWN_REQUIRE(GetParam().need);
    }
    server_.emplace(GetParam());
  }

  /// Every name of the workspace with its type, mode, number and size, and its time: a change that
  /// was taken back has changed that of a directory.
  [[nodiscard]] std::map<std::string, std::string> tree(bool directory_times = true) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(server_->in(""))) {
      struct stat status{};
      ::lstat(entry.path().c_str(), &status);
      const bool timed = directory_times || !S_ISDIR(status.st_mode);
      all[entry.path()] =
          fmt::format("{:o} {} {} {}.{}", status.st_mode, status.st_ino, status.st_size,
                      timed ? status.st_mtim.tv_sec : 0, timed ? status.st_mtim.tv_nsec : 0);
    }
    return all;
  }

  /// Holds every name of the workspace open: no number of one that goes is another's meanwhile.
  [[nodiscard]] std::vector<os::UniqueFd> hold_all() const {
    std::vector<os::UniqueFd> all;
    for (const auto& entry : fs::recursive_directory_iterator(server_->in(""))) {
      all.emplace_back(::open(entry.path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }
    return all;
  }

  /// What the real one says, once the checked one has said the same.
  std::string answer(const std::string& sections, bool git = false, bool same_words = true) {
    Json call{{"patch", git ? sections : "*** Begin Patch\n" + sections + "*** End Patch\n"},
              {"check_only", true}};
    const auto held = hold_all();
    const auto before = tree();
    const auto untimed = tree(false);
    ToolAnswer checked = server_->call("apply_patch", call);
    EXPECT_EQ(tree(), before) << "the check left something: " << sections;
    call["check_only"] = false;
    ToolAnswer real = server_->call("apply_patch", call);
    EXPECT_EQ(checked.failed, real.failed)
        << sections << "checked: " << checked.text << "\nreal: " << real.text;
    if (real.failed) {
      const std::string prefix = "nothing was changed: ";
      if (const auto at = real.text.find(prefix); at != std::string::npos) {
        real.text.erase(at, prefix.size());
      }
      if (same_words) {
        EXPECT_EQ(checked.text, real.text);
      }
      EXPECT_EQ(tree(false), untimed) << "a refused patch left something: " << sections;
      return real.text;
    }
    EXPECT_THAT(checked.text, HasSubstr("check only"));
    EXPECT_EQ(changes_of(checked), changes_of(real)) << sections;
    return {};
  }
  void works(const std::string& sections, bool git = false) {
    EXPECT_EQ(answer(sections, git), "") << sections;
  }
  std::string refused(const std::string& sections, bool git = false, bool same_words = true) {
    const std::string why = answer(sections, git, same_words);
    EXPECT_NE(why, "") << sections;
    EXPECT_THAT(why, HasSubstr("patch line ")) << sections;
    return why;
  }

  std::optional<FileServer> server_;

 private:
  static std::vector<std::string> changes_of(const ToolAnswer& answer) {
    std::vector<std::string> all;
    for (const Json& file : answer.structured["files"]) {
      all.push_back(file.value("change", "") + " " + file.value("path", "") + " " +
                    file.value("etag", "") + "\n" + file.value("diff", ""));
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, CheckOnly, testing::Values(kAllLayers, kLandlockOnly, kNoLayer),
                         [](const auto& mode) { return std::string(mode.param.name); });

TEST_P(CheckOnly, OfWhatWorks) {
  server_->put("plain", "old\n");
  works(added("new/directory/file"));
  works(edited("plain"));
  server_->put("plain", "old\n");
  works(moved("plain", "moved", true));
  works(moved("moved", "away/moved"));
  works(removed("away/moved"));
  server_->put("script", "old\n");
  works("diff --git a/script b/script\nold mode 100644\nnew mode 100755\n", true);
  works("diff --git a/script b/script\nold mode 100644\nnew mode 100755\n", true);  // no change
  works(edited(server_->in("script").string()));
  EXPECT_EQ(read_file(server_->in("script")), "new\n");
}

TEST_P(CheckOnly, OfProtectedNames) {
  server_->put("plain", "old\n");
  server_->put(".envrc", "old\n");
  server_->put(".git/HEAD", "old\n");
  EXPECT_THAT(refused(added(".git/hooks/pre-commit")), HasSubstr("protected"));
  EXPECT_THAT(refused(added("sub/../.mcp.json")), HasSubstr("stay below"));
  EXPECT_THAT(refused(added(".mcp.json")), HasSubstr("protected"));
  EXPECT_THAT(refused(edited(".envrc")), HasSubstr("protected"));
  EXPECT_THAT(refused(removed(".envrc")), HasSubstr("protected"));
  EXPECT_THAT(refused(moved(".envrc", "mine")), HasSubstr("protected"));
  EXPECT_THAT(refused(moved("plain", ".mcp.json")), HasSubstr("protected"));
  EXPECT_THAT(refused("diff --git a/.envrc b/.envrc\nold mode 100644\nnew mode 100755\n", true),
              HasSubstr("protected"));
  EXPECT_THAT(refused(edited("plain") + added(".mcp.json")), HasSubstr("patch line 5: "));
  server_->put("base", "old\n");
  server_->put("full/only", "old\n");
  EXPECT_THAT(refused(removed("base") + moved(".envrc", "base/mine")), HasSubstr("protected"));
  EXPECT_THAT(refused(removed("full/only") + moved(".envrc", "full")), HasSubstr("protected"));
  works(edited("plain"));
}

TEST_P(CheckOnly, OfNamesWhoseDirectoriesAreMissing) {
  EXPECT_THAT(refused(added(".git/hooks/deep/pre-commit")), HasSubstr("protected"));
  works(added("git/hooks/deep/pre-commit"));
}

TEST_P(CheckOnly, OfPlacesOutside) {
  server_->put("plain", "old\n");
  fs::create_symlink(server_->out(""), server_->in("way"));
  refused(added(server_->out("new")));
  refused(added(server_->out("new/directory/file")));
  refused(added("way/new"));
  refused(edited("way/file"));
  // Between mounts it is tried as a copy, which is refused in other words.
  refused(moved("plain", server_->out("moved")), false, false);
  refused(removed(server_->out("file")));
  refused(edited("/dev/null"));
  works(moved("plain", "moved"));
}

TEST_P(CheckOnly, OfDirectoriesThatCannotBeWritten) {
  for (const char* name :
       {"closed/edited", "closed/moved", "closed/gone", "closed/mode", "plain"}) {
    server_->put(name, "old\n");
  }
  ASSERT_EQ(::chmod(server_->in("closed").c_str(), 0555), 0);
  refused(added("closed/new"));
  refused(added("closed/new/below"));
  refused(edited("closed/edited"));
  refused(moved("closed/moved", "moved"));
  refused(moved("plain", "closed/moved-here"));
  refused(removed("closed/gone"));
  works("diff --git a/closed/mode b/closed/mode\nold mode 100644\nnew mode 100755\n", true);
  ASSERT_EQ(::chmod(server_->in("closed").c_str(), 0755), 0);
}

TEST_P(CheckOnly, OfFilesOfOthers) {
  BAWN_REQUIRE("root");
  server_->put("shared/theirs", "old\n");
  server_->put("theirs", "old\n");
  ASSERT_EQ(::chown(server_->in("theirs").c_str(), 4243, 4243), 0);
  ASSERT_EQ(::chown(server_->in("shared/theirs").c_str(), 4243, 4243), 0);
  ASSERT_EQ(::chown(server_->in("shared").c_str(), 4243, 4243), 0);
  ASSERT_EQ(::chmod(server_->in("shared").c_str(), 01777), 0);
  refused("diff --git a/theirs b/theirs\nold mode 100644\nnew mode 100755\n", true);
  refused(edited("shared/theirs"));
  refused(removed("shared/theirs"));
  refused(moved("shared/theirs", "mine"));
  works(added("shared/new"));
  works(edited("theirs"));
}

TEST_P(CheckOnly, OfFilesInThePlaceOfDirectories) {
  server_->put("file", "old\n");
  server_->put("one/only", "old\n");
  server_->put("two/gone", "old\n");
  server_->put("two/stays", "old\n");
  EXPECT_THAT(refused(added("file/below")), HasSubstr("directory"));
  EXPECT_THAT(refused(added("one")), HasSubstr("directory"));
  EXPECT_THAT(refused(added("two") + removed("two/gone")), HasSubstr("holds more"));
  EXPECT_THAT(refused(added("three") + added("three/below")), HasSubstr("is a file"));
  works(removed("file") + added("file/below/it"));
  works(added("one") + removed("one/only"));
  EXPECT_EQ(read_file(server_->in("file/below/it")), "new\n");
  EXPECT_EQ(read_file(server_->in("one")), "new\n");
}

TEST(CheckOnlyUser, AllOfItAsAnOrdinaryUser) {
  BAWN_REQUIRE("root");
  EXPECT_EQ(run_as_ordinary_user("Modes/CheckOnly.*:Said.*:PatchedFiles.*:CallOrder.*"), 0);
}

}  // namespace
}  // namespace bawn::test
