/// \file
/// Ways out through the file tools, as MCP calls, in each mode of the wall. Each attack stands
/// beside something like it that works.
#include "file_server.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;

class FileToolEscape : public testing::TestWithParam<WallMode> {
 protected:
  void SetUp() override {
    if (*GetParam().need != '\0') {
      BAWN_REQUIRE(GetParam().need);
    }
    server_.emplace(GetParam());
    ASSERT_TRUE(server_->started());
  }
  void TearDown() override {
    if (server_) {
      EXPECT_EQ(read_file(server_->out("file")), "outside\n");
      for (const auto& entry : fs::directory_iterator(server_->out(""))) {
        EXPECT_EQ(entry.path().filename(), "file") << "something escaped";
      }
    }
  }

  ToolAnswer write(const fs::path& path, bool make_parents = false) {
    return server_->call(
        "write_file",
        Json{{"path", path.string()}, {"content", "escaped"}, {"make_parents", make_parents}});
  }
  void expect_no_write(const fs::path& path, bool make_parents = false) {
    const ToolAnswer answer = write(path, make_parents);
    EXPECT_TRUE(answer.failed) << path << ": " << answer.text;
  }
  void expect_write(const fs::path& path) {
    const ToolAnswer answer = write(path);
    EXPECT_FALSE(answer.failed) << path << ": " << answer.text;
    EXPECT_EQ(read_file(path), "escaped");
  }

  std::optional<FileServer> server_;
};

TEST_P(FileToolEscape, ByLinks) {
  fs::create_symlink(server_->out("new"), server_->in("dangling"));
  fs::create_symlink(server_->out("file"), server_->in("link"));
  fs::create_symlink(server_->out(""), server_->in("ancestor"));
  fs::create_symlink("inside", server_->in("control"));
  expect_no_write(server_->in("dangling"));
  expect_no_write(server_->in("link"));
  expect_no_write(server_->in("ancestor/new"));
  expect_no_write(server_->in("ancestor/missing/new"), true);
  expect_no_write(server_->in("ancestor/../outside/new"));
  EXPECT_FALSE(write(server_->in("control")).failed);
  EXPECT_EQ(read_file(server_->in("inside")), "escaped");
}

TEST_P(FileToolEscape, ByEditPatchAndRename) {
  fs::create_symlink(server_->out("file"), server_->in("link"));
  server_->put("a", "one\n");
  EXPECT_TRUE(server_
                  ->call("edit_file", Json{{"path", server_->in("link").string()},
                                           {"old_string", "outside"},
                                           {"new_string", "x"}})
                  .failed);
  EXPECT_TRUE(
      server_
          ->call("apply_patch", Json{{"patch",
                                      "--- a/../outside/file\n+++ b/../outside/file\n@@ -1 +1 "
                                      "@@\n-outside\n+x\n"}})
          .failed);
  const auto moved = [&](const std::string& to) {
    return Json{{"patch", "*** Begin Patch\n*** Update File: a\n*** Move to: " + to +
                              "\n-one\n+two\n*** End Patch\n"}};
  };
  EXPECT_TRUE(server_->call("apply_patch", moved(server_->out("moved"))).failed);
  EXPECT_EQ(read_file(server_->in("a")), "one\n") << "half a patch";
  EXPECT_FALSE(server_->call("apply_patch", moved("b")).failed);
  EXPECT_EQ(read_file(server_->in("b")), "two\n");
}

TEST_P(FileToolEscape, ByAHardLink) {
  fs::create_hard_link(server_->out("file"), server_->in("hard"));
  // The name inside gets a file of its own; the one outside keeps its content.
  static_cast<void>(write(server_->in("hard")));
  EXPECT_EQ(read_file(server_->out("file")), "outside\n");
}

TEST_P(FileToolEscape, ByProc) {
  for (const char* path : {"/proc/self/root/etc/hostname", "/proc/1/root/etc/hostname",
                           "/proc/self/cwd/x", "/proc/self/fd/0", "/dev/fd/0"}) {
    EXPECT_TRUE(server_->call("read_file", Json{{"path", path}}).failed) << path;
  }
  expect_no_write("/proc/self/cwd/../outside/new");
  expect_no_write("/proc/self/root" + server_->out("new").string());
  expect_write(server_->in("control"));
}

TEST_P(FileToolEscape, ByLookAlikes) {
  expect_no_write(server_->out("new"));
  expect_no_write(server_->in("..") / "outside" / "new");
  // One dot leader, division slash, upper case: other names, inside.
  expect_write(server_->in("\xE2\x80\xA4\xE2\x80\xA4"));
  expect_write(server_->in("..\xE2\x88\x95outside\xE2\x88\x95new"));
  expect_write(server_->in(".GIT-config"));
}

TEST_P(FileToolEscape, SecretsAreNeitherReadNorFound) {
  if (!GetParam().confined) {
    GTEST_SKIP() << "no layer hides anything in this mode; the report says so";
  }
  fs::create_symlink(server_->secret(), server_->in("link"));
  server_->put("control", "outside\n");
  for (const fs::path& path : {server_->secret(), server_->in("link")}) {
    const ToolAnswer answer = server_->call("read_file", Json{{"path", path.string()}});
    EXPECT_TRUE(answer.failed) << answer.text;
  }
  const ToolAnswer found = server_->call(
      "search_files",
      Json{{"pattern", "outside"}, {"path", server_->secret().parent_path().string()}});
  EXPECT_EQ(found.structured.dump().find("outside\\n"), std::string::npos) << found.text;
  EXPECT_TRUE(found.failed || found.structured["total_lines"] == 0) << found.text;
  EXPECT_FALSE(server_->call("read_file", Json{{"path", "control"}}).failed);
}

TEST_P(FileToolEscape, BySwappingADirectoryForALink) {
  server_->put("swapped/file", "x");
  fs::create_symlink(server_->out(""), server_->in("other"));
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    const std::string one = server_->in("swapped");
    const std::string other = server_->in("other");
    while (!stop) {
      syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    }
  });
  const int writes = swap_writes(500);
  int inside = 0;
  // On a busy machine the two may keep in step: go on until one write found the directory.
  const auto broken = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (int i = 0; i < writes || (inside == 0 && std::chrono::steady_clock::now() < broken); ++i) {
    inside += write(server_->in("swapped/file")).failed ? 0 : 1;
  }
  stop = true;
  swapper.join();
  EXPECT_GT(inside, 0) << "no write went anywhere: the race was not run";
}

TEST_P(FileToolEscape, FifosAndDevicesBlockNobody) {
  ASSERT_EQ(mkfifo(server_->in("fifo").c_str(), 0666), 0);
  for (const char* path : {"fifo", "/dev/null", "/dev/zero"}) {
    EXPECT_TRUE(server_->call("read_file", Json{{"path", path}}).failed) << path;
    EXPECT_TRUE(
        server_->call("edit_file", Json{{"path", path}, {"old_string", "a"}, {"new_string", "b"}})
            .failed)
        << path;
  }
  expect_no_write(server_->in("fifo"));
  expect_write(server_->in("plain"));
}

INSTANTIATE_TEST_SUITE_P(Modes, FileToolEscape,
                         testing::Values(kAllLayers, kLandlockOnly, kNoLayer),
                         [](const auto& mode) { return std::string(mode.param.name); });

TEST(FileToolEscapeUser, AllOfItAsAnOrdinaryUser) {
  BAWN_REQUIRE("root");
  EXPECT_EQ(run_as_ordinary_user("Modes/FileToolEscape.*"), 0);
}

}  // namespace
}  // namespace bawn::test
