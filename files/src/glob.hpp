/// \file
/// Patterns for paths, as git matches them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace bawn::files {

struct GlobOptions {
  bool pathname = true;  ///< `*` and `?` do not match '/', and `**` does between slashes
  /// What comes before the first special letter is compared by itself, as git does for ignore
  /// rules: a `**` behind it counts as one at the beginning.
  bool head_apart = false;
  bool braces = false;  ///< `{a,b}` is a choice, as ripgrep has it and git does not
};

/// A compiled pattern. Matching takes time linear in the path.
///
/// Source: git's wildmatch.c; gitignore(5). Bytes are compared, not characters.
/// Threads: thread-safe.
class Glob {
 public:
  /// None for a pattern that can never match (an unfinished bracket or escape), as git has it.
  static std::optional<Glob> compile(std::string_view pattern, const GlobOptions& options);

  [[nodiscard]] bool matches(std::string_view path) const;

 private:
  Glob() = default;
  enum class Form { Literal, Suffix, Regex };
  Form form_ = Form::Literal;
  std::string text_;  ///< of Literal and Suffix ("*.o")
  std::shared_ptr<const re2::RE2> regex_;
};

/// A list of globs as a caller gives them: one without a slash is about the last part of the path,
/// one with a slash about the whole, one that begins with '!' leaves out. Braces are choices.
class GlobList {
 public:
  /// None when one of them is no pattern; its text goes to `bad`.
  static std::optional<GlobList> compile(const std::vector<std::string>& patterns,
                                         std::string& bad);
  /// True when the list says nothing against it: it matches one of the positive globs, or there are
  /// none, and the last that matches does not leave it out.
  [[nodiscard]] bool keeps(std::string_view path) const;
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

 private:
  struct Entry {
    Glob glob;
    bool negative = false;
    bool whole = false;
  };
  std::vector<Entry> entries_;
  bool any_positive_ = false;
};

}  // namespace bawn::files
