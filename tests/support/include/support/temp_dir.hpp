/// \file
/// A directory that lives as long as its object, for tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bawn::test {

/// Makes a directory under $TMPDIR (or /tmp, or `base`) and removes it with all it holds at the
/// end.
class TempDir {
 public:
  TempDir();
  explicit TempDir(const std::filesystem::path& base);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes `text` to `name` below the directory and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// The whole file as bytes; empty when it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace bawn::test
