/// \file
/// The file agent is killed at every system call that a patch over several files makes: then the
/// answer is the truth, and each file is what it was or what it was to become.
#include "../file_agent/killed_agent.hpp"
#include "../file_agent/walled_files.hpp"
#include "bawn/contract/call_context.hpp"
#include "bawn/files/tools.hpp"
#include "bawn/os/procfs.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;

class OnePlace final : public files::Places {
 public:
  explicit OnePlace(files::Place place) : place_(std::move(place)) {}
  contract::Result<files::Place> place(const contract::Context& /*context*/,
                                       const std::optional<std::string>& /*name*/) override {
    return place_;
  }
  contract::Confinement confinement(const contract::Context& /*context*/,
                                    const std::optional<std::string>& /*name*/) const override {
    return {};
  }
  std::string workspace(const contract::Context& /*context*/,
                        const std::optional<std::string>& /*name*/) const override {
    return place_.workspace;
  }

 private:
  files::Place place_;
};

/// What is at a path: content and mode; a directory's is empty.
using Tree = std::map<std::string, std::string>;

class PatchCrash : public WalledFiles {
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

  contract::ToolPtr patch_tool() {
    files::Place place;
    place.key = place.name = "main";
    place.files = files_;
    place.workspace = workspace_;
    place.home = workspace_;
    place.policy = policy_;
    auto tools = files::make_file_tools(std::make_shared<OnePlace>(std::move(place)),
                                        {.state_dir = root_.path().string()});
    EXPECT_TRUE(tools);
    for (const contract::ToolPtr& tool : *tools) {
      if (tool->definition().name == "apply_patch") {
        return tool;
      }
    }
    return nullptr;
  }

  contract::Outcome apply(const contract::ToolPtr& tool) {
    const std::string patch =
        "diff --git a/changed b/changed\n--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-old\n+new\n"
        "diff --git a/moved b/there\nrename from moved\nrename to there\n--- a/moved\n"
        "+++ b/there\n@@ -1 +1 @@\n-old\n+new\n"
        "diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n"
        "@@ -0,0 +1 @@\n+new\n"
        "diff --git a/script b/script\nold mode 100644\nnew mode 100755\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-old\n";
    contract::Call call;
    call.id = "call";
    call.args = contract::dump_json(contract::Json{{"patch", patch}});
    const contract::Context context = contract::with_call(now_, std::move(call));
    return tool->execute(context, *contract::call_from(context));
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, PatchCrash, testing::Values(kAllLayers, kNoLayer),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(PatchCrash, EachFileIsTheOldOneOrTheNewOneAndTheAnswerIsTrue) {
  BAWN_REQUIRE("root");
  const auto tool = patch_tool();
  ASSERT_NE(tool, nullptr);
  reset_tree();
  const Tree before = tree();
  const auto control = apply(tool);
  ASSERT_FALSE(control.error) << control.error->message();
  const Tree after = tree();
  ASSERT_EQ(after.size(), 4U);
  ASSERT_FALSE(after.contains("moved"));
  int refused = 0;
  int applied = 0;
  bool killed = true;
  for (int at = 0; killed; ++at) {
    SCOPED_TRACE(at);
    reset_tree();
    ASSERT_TRUE(files_->status(now_, workspace_, sandbox::FileAgent::Links::Keep));
    std::optional<contract::Error> error;
    killed = run_and_kill(os::children(wall_.warden->pid()).front(), at,
                          [&] { error = apply(tool).error; });
    ASSERT_EQ(tree(), error ? before : after) << (error ? error->message() : "applied");
    (error ? refused : applied) += 1;
    ASSERT_LT(at, 2000);
  }
  EXPECT_GT(refused, 10);  // controls: both happened
  EXPECT_GT(applied, 3);
}

}  // namespace
}  // namespace bawn::test
