/// \file
/// Which paths git leaves out: .gitignore files and .git/info/exclude.
#pragma once

#include "glob.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// The rules of one file.
///
/// Source: gitignore(5), git's dir.c. Threads: thread-safe.
class IgnoreRules {
 public:
  static IgnoreRules parse(std::string_view text);

  enum class Verdict { None, Ignore, Keep };
  /// What the last matching rule says about `path`, relative to the directory of the file.
  [[nodiscard]] Verdict verdict(std::string_view path, bool is_directory) const;
  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }

 private:
  struct Rule {
    Glob glob;
    bool negative = false;
    bool directory_only = false;
    bool base_name = false;  ///< no slash within: about the last part of the path
  };
  std::vector<Rule> rules_;
};

/// The rule files that apply in one place: the deepest decides first. Copied as a walk goes down.
class IgnoreStack {
 public:
  /// Rules of the file in `directory`, relative to the root of the walk, without a final slash;
  /// empty for the root. Deeper directories come later.
  void push(std::string directory, IgnoreRules rules);
  /// Drops what was pushed for `directory` and below it.
  void pop(std::size_t size) { files_.resize(size); }
  [[nodiscard]] std::size_t size() const noexcept { return files_.size(); }

  /// Whether this very path is left out; its parents must have been asked before.
  [[nodiscard]] bool ignores(std::string_view path, bool is_directory) const;

 private:
  struct File {
    std::string directory;
    IgnoreRules rules;
  };
  std::vector<File> files_;
};

}  // namespace bawn::files
