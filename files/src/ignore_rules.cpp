#include "ignore_rules.hpp"

#include "lines.hpp"

#include <utility>

namespace bawn::files {

namespace {

/// Trailing blanks do not count unless a backslash stands before them.
std::string_view without_trailing_blanks(std::string_view line) {
  std::size_t end = line.size();
  std::size_t blanks_from = std::string_view::npos;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      blanks_from = blanks_from == std::string_view::npos ? i : blanks_from;
      continue;
    }
    blanks_from = std::string_view::npos;
    if (line[i] == '\\' && ++i == line.size()) {
      return line;
    }
  }
  if (blanks_from != std::string_view::npos) {
    end = blanks_from;
  }
  return line.substr(0, end);
}

}  // namespace

IgnoreRules IgnoreRules::parse(std::string_view text) {
  IgnoreRules rules;
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  for (const std::string_view whole : split_lines(text)) {
    std::string_view line = without_line_end(whole);
    line = line.substr(0, line.find('\0'));  // where git's own string ends
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    line = without_trailing_blanks(line);
    const bool negative = line.starts_with('!');
    line.remove_prefix(negative ? 1 : 0);
    const bool directory_only = line.ends_with('/');
    line.remove_suffix(directory_only ? 1 : 0);
    const bool base_name = line.find('/') == std::string_view::npos;
    line.remove_prefix(line.starts_with('/') ? 1 : 0);
    if (line.empty()) {
      continue;
    }
    if (auto glob = Glob::compile(line, {.pathname = !base_name, .head_apart = true})) {
      rules.rules_.push_back({*std::move(glob), negative, directory_only, base_name});
    }
  }
  return rules;
}

IgnoreRules::Verdict IgnoreRules::verdict(std::string_view path, bool is_directory) const {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if ((!rule->directory_only || is_directory) &&
        rule->glob.matches(rule->base_name ? base : path)) {
      return rule->negative ? Verdict::Keep : Verdict::Ignore;
    }
  }
  return Verdict::None;
}

void IgnoreStack::push(std::string directory, IgnoreRules rules) {
  files_.push_back({std::move(directory), std::move(rules)});
}

bool IgnoreStack::ignores(std::string_view path, bool is_directory) const {
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    std::string_view inside = path;
    if (!file->directory.empty()) {
      if (!inside.starts_with(file->directory) || inside.size() <= file->directory.size() ||
          inside[file->directory.size()] != '/') {
        continue;
      }
      inside.remove_prefix(file->directory.size() + 1);
    }
    const auto verdict = file->rules.verdict(inside, is_directory);
    if (verdict != IgnoreRules::Verdict::None) {
      return verdict == IgnoreRules::Verdict::Ignore;
    }
  }
  return false;
}

}  // namespace bawn::files
