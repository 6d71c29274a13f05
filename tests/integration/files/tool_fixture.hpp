/// \file
/// The file tools of a running `bawn mcp` behind all layers, and looks at the files from outside.
#pragma once

#include "file_server.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

namespace bawn::test {

class FileToolFixture : public testing::Test {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("landlock");
    server_.emplace(kAllLayers);
    ASSERT_TRUE(server_->started());
  }
  ToolAnswer works(const std::string& tool, const contract::Json& arguments) {
    ToolAnswer answer = server_->call(tool, arguments);
    EXPECT_FALSE(answer.failed) << answer.text;
    return answer;
  }
  std::string fails(const std::string& tool, const contract::Json& arguments) {
    const ToolAnswer answer = server_->call(tool, arguments);
    EXPECT_TRUE(answer.failed) << answer.text;
    return answer.text;
  }
  /// The id of the change that a call made.
  std::string changes(const std::string& tool, const contract::Json& arguments) {
    return works(tool, arguments).structured.value("call", "");
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return read_file(server_->in(name));
  }
  [[nodiscard]] struct stat status_of(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(::lstat(server_->in(name).c_str(), &status), 0) << name << ": errno " << errno;
    return status;
  }
  [[nodiscard]] ino_t inode_of(const std::string& name) const { return status_of(name).st_ino; }
  [[nodiscard]] unsigned mode_of(const std::string& name) const {
    return status_of(name).st_mode & 07777U;
  }
  /// All names of the workspace, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(server_->in(""))) {
      all.push_back(entry.path().lexically_relative(server_->in("")).string());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  std::optional<FileServer> server_;
};

}  // namespace bawn::test
