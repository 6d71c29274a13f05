#include "listen_path.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace bawn::cli {
namespace {

using testing::HasSubstr;

class ListenPath : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"home/rw", "workspace", "apart"}) {
      std::filesystem::create_directories(base() / name);
    }
    std::filesystem::create_symlink(base() / "apart", base() / "link");
    ASSERT_EQ(::setenv("HOME", (base() / "home").c_str(), 1), 0);  // NOLINT(concurrency-mt-unsafe)
  }
  [[nodiscard]] std::filesystem::path base() const {
    return std::filesystem::canonical(place_.path());
  }
  [[nodiscard]] std::string listening(const std::string& path,
                                      std::vector<std::string> write) const {
    shell::SessionConfig config;
    config.policy = *sandbox::preset("workspace-write");
    config.policy.write = std::move(write);
    config.workspace = base() / "workspace";
    const auto found = socket_path_outside(base() / path, config);
    return found ? *found : "refused: " + found.error().message();
  }

  test::TempDir place_;
};

TEST_F(ListenPath, MayNotLieInAWritableRootHoweverThatIsWritten) {
  for (const std::string& root :
       {std::string("~/rw"), (base() / "home/rw").string(), (base() / "home").string()}) {
    EXPECT_THAT(listening("home/rw/s.sock", {root}), HasSubstr("must lie outside")) << root;
  }
  const std::string link = base() / "link";
  EXPECT_THAT(listening("apart/s.sock", {link}), HasSubstr("must lie outside"));
  EXPECT_THAT(listening("link/s.sock", {link}), HasSubstr("must lie outside"));
  EXPECT_THAT(listening("link/s.sock", {(base() / "apart").string()}),
              HasSubstr("must lie outside"));
  EXPECT_THAT(listening("workspace/s.sock", {}), HasSubstr("must lie outside"));
}

TEST_F(ListenPath, MayLieBesideThem) {
  EXPECT_EQ(listening("apart/s.sock", {"~/rw"}), base() / "apart/s.sock");
  EXPECT_EQ(listening("link/s.sock", {}), base() / "apart/s.sock");
  EXPECT_EQ(listening("home/s.sock", {"~/rw", "~/s.soc"}), base() / "home/s.sock");
}

}  // namespace
}  // namespace bawn::cli
