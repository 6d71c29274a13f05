#include "bawn/files/tools.hpp"

#include "bawn/contract/properties.hpp"

#include <gmock/gmock.h>

namespace bawn::files {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Sessions that never start: what is asked here must not need one.
class NoPlaces final : public Places {
 public:
  Result<Place> place(const contract::Context& /*context*/,
                      const std::optional<std::string>& /*name*/) override {
    return contract::fail(ErrorCode::Unsupported, "no session in this test");
  }
  contract::Confinement confinement(const contract::Context& /*context*/,
                                    const std::optional<std::string>& name) const override {
    contract::Confinement report;
    report.confined = true;
    report.by = name.value_or("default");
    return report;
  }
  std::string workspace(const contract::Context& /*context*/,
                        const std::optional<std::string>& /*name*/) const override {
    return "/work/space";
  }
};

class FileToolProperties : public testing::Test {
 protected:
  void SetUp() override {
    auto tools = make_file_tools(std::make_shared<NoPlaces>());
    ASSERT_TRUE(tools) << tools.error().message();
    tools_ = *std::move(tools);
  }
  [[nodiscard]] const contract::Tool& tool(std::string_view name) const {
    for (const auto& tool : tools_) {
      if (tool->definition().name == name) {
        return *tool;
      }
    }
    ADD_FAILURE() << "no tool " << name;
    return *tools_.front();
  }
  [[nodiscard]] std::vector<std::string> resources(std::string_view name,
                                                   std::string_view args) const {
    return contract::resources_of(tool(name), contract::Context(), args);
  }
  std::vector<contract::ToolPtr> tools_;
};

TEST_F(FileToolProperties, EveryToolStatesHintsSchemaAndConfinement) {
  ASSERT_EQ(tools_.size(), 7U);
  for (const auto& tool : tools_) {
    const std::string& name = tool->definition().name;
    EXPECT_LE(name.size(), 20U);
    ASSERT_TRUE(contract::annotations_of(*tool)) << name;
    EXPECT_TRUE(contract::output_schema_of(*tool)) << name;
    const bool reads = name == "read_file" || name == "list_files" || name == "search_files";
    EXPECT_EQ(contract::annotations_of(*tool)->read_only, reads) << name;
    EXPECT_EQ(contract::annotations_of(*tool)->destructive, !reads) << name;
    EXPECT_EQ(contract::confined_by(*tool, contract::Context(), R"({"session":"other"})").by,
              "other")
        << name;
  }
}

TEST_F(FileToolProperties, ReadsAndWholeWritesMayBeRunAgain) {
  for (const auto& [name, safe] : {std::pair{"read_file", true},
                                   {"list_files", true},
                                   {"search_files", true},
                                   {"write_file", true},
                                   {"edit_file", false},
                                   {"apply_patch", false},
                                   {"undo_change", false}}) {
    EXPECT_EQ(contract::replay_of(tool(name), contract::Context(), "{}", ""),
              safe ? contract::Replay::Safe : contract::Replay::Unknown)
        << name;
  }
}

TEST_F(FileToolProperties, CallsAboutOneFileShareItsResource) {
  EXPECT_THAT(resources("edit_file", R"({"path":"a/../b"})"), ElementsAre("file:/work/space/b"));
  EXPECT_THAT(resources("write_file", R"({"path":"/work/space/b"})"),
              ElementsAre("file:/work/space/b"));
  EXPECT_THAT(resources("read_file", R"({"path":"./b"})"), ElementsAre("file:/work/space/b"));
  EXPECT_THAT(resources("edit_file", "{}"), ElementsAre());
  EXPECT_THAT(resources("apply_patch",
                        R"({"patch":"*** Begin Patch\n*** Update File: b\n*** Move to: c\n-a\n+b\n)"
                        R"(*** Delete File: d\n*** End Patch"})"),
              UnorderedElementsAre("file:/work/space/b", "file:/work/space/c", "file:/work/space/d",
                                   "file:/work/space/d"));
}

TEST_F(FileToolProperties, LooksAtADirectoryWaitForChangesBelowIt) {
  for (const char* tool : {"list_files", "search_files"}) {
    EXPECT_THAT(resources(tool, R"({"path":"b/../c"})"), ElementsAre("file:/work/space/c/"));
    EXPECT_THAT(resources(tool, "{}"), ElementsAre("file:/work/space/"));
    EXPECT_THAT(resources(tool, R"({"path":"/"})"), ElementsAre("file:/"));
  }
}

TEST_F(FileToolProperties, WrongArgumentsAreRefusedBeforeASessionStarts) {
  contract::Call call;
  call.args = R"({"path":"x","nonsense":1})";
  const auto outcome = tool("read_file").execute(contract::Context(), call);
  ASSERT_TRUE(outcome.error);
  EXPECT_TRUE(outcome.error->message().starts_with("invalid arguments: "))
      << outcome.error->message();
}

}  // namespace
}  // namespace bawn::files
