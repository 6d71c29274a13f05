#include "bawn/sandbox/roots.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace bawn::sandbox {
namespace {

using ::testing::ElementsAre;

Policy writing(std::vector<std::string> roots) {
  Policy policy;
  policy.write_workspace = true;
  policy.write = std::move(roots);
  return policy;
}

TEST(WritableRoots, HomeIsExpandedAndPathsHaveOneSpelling) {
  EXPECT_THAT(writable_roots(writing({"~/out", "/not/there/", "/not/there"}), "/nowhere/ws",
                             "/nowhere/home"),
              ElementsAre("/nowhere/ws", "/nowhere/home/out", "/not/there"));
  EXPECT_THAT(writable_roots(Policy(), "/nowhere/ws", "/nowhere/home"), ElementsAre());
}

TEST(WritableRoots, ALinkStandsBesideWhatItLeadsTo) {
  const test::TempDir place;
  const std::filesystem::path base = std::filesystem::canonical(place.path());
  std::filesystem::create_directory(base / "real");
  std::filesystem::create_symlink("real", base / "link");
  const std::string link = base / "link";
  const std::string real = base / "real";
  EXPECT_THAT(writable_roots(writing({link, link + "/new"}), "/nowhere/ws", "/"),
              ElementsAre("/nowhere/ws", link, real, link + "/new", real + "/new"));
}

TEST(WritableRoots, LyingInIsAQuestionOfWholeNames) {
  EXPECT_TRUE(lies_in_any("/a/b", {"/x", "/a"}));
  EXPECT_TRUE(lies_in_any("/a", {"/a"}));
  EXPECT_FALSE(lies_in_any("/ab", {"/a"}));
}

}  // namespace
}  // namespace bawn::sandbox
