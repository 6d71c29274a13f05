/// \file
/// A workspace and commands run in it by `bawn run --policy workspace-write`, for tests of real
/// work.
#pragma once

#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <iosfwd>
#include <string>

namespace bawn::test {

/// Who starts bawn and owns the workspace.
enum class Starter {
  Caller,        ///< whoever runs the tests
  OrdinaryUser,  ///< uid 12345, when the tests run as root
};

std::string to_string(Starter starter);
/// For the names that ctest lists.
void PrintTo(Starter starter, std::ostream* out);

/// A workspace that is removed afterwards, with a home and a runtime directory beside it.
class Inside {
 public:
  explicit Inside(Starter starter);

  /// Empty, or why this starter cannot be had here.
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] std::filesystem::path workspace() const { return root_.path() / "workspace"; }
  /// Writes a file into the workspace, owned by the starter.
  void write(const std::string& name, const std::string& text) const;
  /// Copies a folder of this project into the workspace.
  void copy(const std::filesystem::path& from, const std::string& name) const;
  /// Runs `script` by bash behind the wall, in the workspace. The output begins with what went
  /// wrong when the report does not say that the command was confined.
  [[nodiscard]] ProgramResult run(const std::string& script) const;
  /// Runs `script` by bash as the starter without a wall, in the directory that holds the
  /// workspace.
  [[nodiscard]] ProgramResult prepare(const std::string& script) const;
  /// The last run's confinement report as it was written.
  [[nodiscard]] std::string report() const;

 private:
  void give_away(const std::filesystem::path& path) const;
  TempDir root_;
  unsigned uid_ = 0;
};

}  // namespace bawn::test
