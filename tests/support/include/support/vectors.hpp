/// \file
/// Data that implementations of this contract share. Their folder is in BAWN_VECTORS.
#pragma once

#include "bawn/contract/json.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace bawn::test {

/// The folder. Call it behind BAWN_REQUIRE("shared-vectors").
[[nodiscard]] inline std::filesystem::path vectors_folder() {
  return std::getenv("BAWN_VECTORS");  // NOLINT(concurrency-mt-unsafe): read only
}

/// One file of the folder. Call it behind BAWN_REQUIRE("shared-vectors").
[[nodiscard]] inline contract::Json vectors(const std::string& name) {
  return contract::parse_json(read_file(vectors_folder() / name)).value();
}

/// Fails for every member of an object that is not in `known`: it says something that the test does
/// not play.
inline void expect_known_members(const contract::Json& object,
                                 std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    EXPECT_NE(std::ranges::find(known, name), known.end())
        << "nothing plays the member " << name << " of " << object;
  }
}

/// Plays every row of a list. `known` are the members that a row may have.
template <class Play>
void play_rows(const contract::Json& list, std::initializer_list<std::string_view> known,
               Play play) {
  EXPECT_FALSE(list.empty());
  for (const contract::Json& row : list) {
    SCOPED_TRACE(row.dump());
    if (row.is_object()) {
      expect_known_members(row, known);
    }
    play(row);
  }
}

}  // namespace bawn::test
