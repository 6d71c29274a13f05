/// \file
/// Data that implementations of this contract share. Their folder is in BAWN_VECTORS.
#pragma once

#include "bawn/contract/json.hpp"
#include "support/temp_dir.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace bawn::test {

/// One file of the folder. Call it behind BAWN_REQUIRE("shared-vectors").
[[nodiscard]] inline contract::Json vectors(const std::string& name) {
  const char* dir = std::getenv("BAWN_VECTORS");  // NOLINT(concurrency-mt-unsafe): read only
  return contract::parse_json(read_file(std::filesystem::path(dir) / name)).value();
}

}  // namespace bawn::test
