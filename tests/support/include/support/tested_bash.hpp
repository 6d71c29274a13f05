/// \file
/// The bash that session tests run: /bin/bash, or the one that BAWN_TEST_BASH names, so that the
/// same tests say what another version does.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace bawn::test {

/// None unless BAWN_TEST_BASH is set.
inline std::optional<std::string> tested_bash() {
  const char* const path = std::getenv("BAWN_TEST_BASH");  // NOLINT(concurrency-mt-unsafe)
  return path != nullptr && *path != '\0' ? std::optional<std::string>(path) : std::nullopt;
}

/// A copy of it below `workspace`, which a session sees wherever the original lies.
inline std::optional<std::string> tested_bash_in(const std::filesystem::path& workspace) {
  const auto original = tested_bash();
  if (!original) {
    return std::nullopt;
  }
  const auto copy = workspace / ".tested" / "bash";
  std::filesystem::create_directory(copy.parent_path());
  std::filesystem::copy_file(*original, copy, std::filesystem::copy_options::skip_existing);
  return copy.string();
}

}  // namespace bawn::test
