/// \file
/// git as the judge of what a patch means.
#pragma once

#include "support/temp_dir.hpp"

#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {

struct GitFile {
  std::string bytes;
  unsigned mode = 0644;
  bool operator==(const GitFile&) const = default;
};
using GitTree = std::map<std::string, GitFile>;

/// A repository that is only read: what git must write goes into a directory of its own.
class GitRepository {
 public:
  /// `directory` holds a repository or worktree.
  explicit GitRepository(std::string directory);

  /// git's output; a failed command gives none.
  [[nodiscard]] std::optional<std::string> git(const std::vector<std::string>& arguments,
                                               const std::string& input = {}) const;
  /// Commits, newest first.
  [[nodiscard]] std::vector<std::string> commits() const;
  /// The regular files of a tree-ish among `paths`; all with none given.
  [[nodiscard]] GitTree files(const std::string& tree, const std::vector<std::string>& paths) const;
  /// The tree that `git apply` makes of `tree`; none when it refuses.
  [[nodiscard]] std::optional<std::string> apply(const std::string& tree,
                                                 const std::string& patch) const;

 private:
  std::string directory_;
  std::string objects_;
  TempDir scratch_;
};

/// A new repository whose commits do at random what people do: edits, new, removed, renamed and
/// copied files, modes, missing final newlines, CRLF, odd names.
class RandomHistory {
 public:
  RandomHistory(unsigned seed, int commits);
  [[nodiscard]] std::string directory() const { return directory_.path(); }

 private:
  [[nodiscard]] int pick(int most);
  [[nodiscard]] std::string random_name();
  [[nodiscard]] std::string random_text();
  [[nodiscard]] std::string changed(std::string text);
  void put(const std::string& name, GitFile file);
  void step();
  void commit();

  TempDir directory_;
  std::mt19937 random_;
  GitTree files_;
  int next_name_ = 0;
};

}  // namespace bawn::test
