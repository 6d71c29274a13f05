/// \file
/// Every list of the shared vectors is known to a test: a file, a list or a row that is new fails
/// here until somebody plays it.
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gtest/gtest.h>

#include <map>

namespace bawn::contract {
namespace {

using bawn::test::vectors;
using bawn::test::vectors_folder;

/// How many rows each member of a file has; 0 for members that are words or settings.
using Rows = std::map<std::string, std::size_t>;

/// Those under `mapping` are played by mapping_vectors_test.cpp here and, where they are about the
/// wire, by tests/unit/mcp; all others in this folder.
const std::map<std::string, Rows>& known_files() {
  static const std::map<std::string, Rows> files = {
      {"definition/hashes.json", {{"note", 0}, {"vectors", 15}}},
      {"executor/batches.json", {{"note", 0}, {"cases", 15}}},
      {"executor/chains.json", {{"default_max_parallel", 0}, {"tools", 7}, {"cases", 13}}},
      {"executor/terminate.json", {{"cases", 5}}},
      {"jcs/canonical.json", {{"ok", 9}, {"errors", 3}}},
      {"jcs/numbers.json", {{"note", 0}, {"numbers", 33}, {"rejected_bits", 3}}},
      {"jcs/request-hash-vectors.json", {{"", 6}}},
      {"mapping/annotations.json",
       {{"consume", 5},
        {"replay_of_every_consumed_tool", 0},
        {"serve", 2},
        {"seed004_always", 3},
        {"seed003_defaults", 4}}},
      {"mapping/arkoren.json",
       {{"seed", 0}, {"cases", 15}, {"names", 1}, {"cli_roles", 8}, {"annotation_defaults", 4}}},
      {"mapping/client_names.json",
       {{"prefix_rule", 0}, {"cases", 13}, {"tool_meta_key", 0}, {"tool_meta", 4}}},
      {"mapping/client_result_of.json",
       {{"note", 0}, {"cases", 10}, {"audio_names", 4}, {"records", 3}}},
      {"mapping/content_of.json", {{"note", 0}, {"cases", 13}, {"data_urls", 6}}},
      {"mapping/elicitation.json", {{"serve", 8}, {"consume", 10}}},
      {"mapping/limits.json",
       {{"seed", 0},
        {"description_limit_default", 0},
        {"result_limit_default", 0},
        {"description", 5},
        {"result", 6},
        {"names", 4},
        {"schemas", 3},
        {"lists", 2},
        {"result_value", 4},
        {"outcomes", 8},
        {"safety", 7},
        {"approval", 8}}},
      {"mapping/output.json", {{"rules", 0}, {"cases", 11}}},
      {"mapping/record_of.json", {{"cases", 7}, {"write_record", 6}}},
      {"mapping/scope_prepare.json",
       {{"seed", 0},
        {"names", 1},
        {"func_input_optional_string", 2},
        {"representation", 3},
        {"add", 3},
        {"outputs", 6},
        {"registry", 4},
        {"guard", 3},
        {"failure", 1},
        {"wrap_depth_max", 0}}},
      {"mapping/seed004.json", {{"seed", 0}, {"cases", 4}, {"origin", 3}, {"reply", 1}}},
      {"schema/manifest.json", {{"fixtures", 14}}},
      {"validation/cases.json", {{"note", 0}, {"schemas", 13}, {"cases", 50}}},
  };
  return files;
}

Rows rows_of(const Json& file) {
  if (file.is_array()) {
    return {{"", file.size()}};
  }
  Rows rows;
  for (const auto& [name, value] : file.items()) {
    rows[name] = value.is_structured() ? value.size() : 0;
  }
  return rows;
}

TEST(VectorsInventory, EveryListOfEveryFileIsKnown) {  // C-31
  BAWN_REQUIRE("shared-vectors");
  std::size_t seen = 0;
  std::size_t goldens = 0;
  for (const char* folder : {"schema", "definition", "jcs", "validation", "executor", "mapping"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(vectors_folder() / folder)) {
      if (!entry.is_regular_file()) {
        continue;
      }
      const std::string name = entry.path().lexically_relative(vectors_folder());
      if (name.starts_with("schema/golden/")) {
        ++goldens;  // each belongs to a fixture of the manifest
        continue;
      }
      const auto known = known_files().find(name);
      ASSERT_NE(known, known_files().end()) << "no test plays " << name;
      EXPECT_EQ(rows_of(vectors(name)), known->second) << name;
      ++seen;
    }
  }
  EXPECT_EQ(seen, known_files().size());
  EXPECT_EQ(goldens, vectors("schema/manifest.json").at("fixtures").size());
}

}  // namespace
}  // namespace bawn::contract
