#include "glob.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <bitset>
#include <cctype>

namespace bawn::files {

namespace {

using Bytes = std::bitset<256>;

unsigned char byte_of(char c) {
  return static_cast<unsigned char>(c);
}

std::string hex_byte(unsigned value) {
  return fmt::format("\\x{:02x}", value);
}

/// Adds what `[:name:]` means; false for an unknown name.
bool add_class(Bytes& set, std::string_view name) {
  using Test = int (*)(int);
  static constexpr std::pair<std::string_view, Test> kClasses[] = {
      {"alnum", std::isalnum}, {"alpha", std::isalpha}, {"blank", std::isblank},
      {"cntrl", std::iscntrl}, {"digit", std::isdigit}, {"graph", std::isgraph},
      {"lower", std::islower}, {"print", std::isprint}, {"punct", std::ispunct},
      {"space", std::isspace}, {"upper", std::isupper}, {"xdigit", std::isxdigit}};
  for (const auto& [known, test] : kClasses) {
    if (known == name) {
      for (int c = 0; c < 128; ++c) {
        if (test(c) != 0) {
          set.set(static_cast<std::size_t>(c));
        }
      }
      return true;
    }
  }
  return false;
}

class Translator {
 public:
  Translator(std::string_view pattern, const GlobOptions& options)
      : pattern_(pattern), options_(options) {}

  /// The pattern as a regular expression over bytes; none when it can never match.
  std::optional<std::string> run() {
    while (at_ < pattern_.size()) {
      if (!step()) {
        return std::nullopt;
      }
    }
    return depth_ == 0 ? std::optional(out_) : std::nullopt;
  }

 private:
  bool step() {
    const char c = pattern_[at_];
    switch (c) {
      case '*':
        star();
        return true;
      case '?':
        out_ += options_.pathname ? "[^/]" : "(?s:.)";
        ++at_;
        return true;
      case '[':
        return bracket();
      case '\\':
        if (++at_ == pattern_.size()) {
          return false;
        }
        break;
      case '{':
      case '}':
      case ',':
        if (options_.braces && (c == '{' || depth_ > 0)) {
          out_ += c == '{' ? "(?:" : c == '}' ? ")" : "|";
          depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
          ++at_;
          return true;
        }
        break;
      default:
        break;
    }
    out_ += hex_byte(byte_of(pattern_[at_++]));
    return true;
  }

  void star() {
    const std::size_t begin = at_;
    at_ = std::min(pattern_.find_first_not_of('*', at_), pattern_.size());
    const bool several = at_ - begin > 1;
    const bool bounded = (begin == 0 || pattern_[begin - 1] == '/' || is_head(begin)) &&
                         (at_ == pattern_.size() || pattern_[at_] == '/');
    if (!options_.pathname || (several && bounded && at_ == pattern_.size())) {
      out_ += "(?s:.*)";
    } else if (several && bounded) {
      out_ += "(?s:.*/)?";
      ++at_;  // the slash is within the choice
    } else {
      out_ += "[^/]*";
    }
  }

  /// All before is compared letter by letter.
  [[nodiscard]] bool is_head(std::size_t end) const {
    return options_.head_apart && pattern_.substr(0, end).find_first_of("*?[\\") == pattern_.npos;
  }

  /// One member of a bracket, an escape resolved; false at the pattern's end.
  bool member(unsigned char& value) {
    if (at_ < pattern_.size() && pattern_[at_] == '\\') {
      ++at_;
    }
    if (at_ >= pattern_.size()) {
      return false;
    }
    value = byte_of(pattern_[at_++]);
    return true;
  }

  bool bracket() {
    ++at_;
    const bool negated = at_ < pattern_.size() && (pattern_[at_] == '!' || pattern_[at_] == '^');
    at_ += negated ? 1 : 0;
    Bytes set;
    for (bool first = true; at_ < pattern_.size() && (first || pattern_[at_] != ']');
         first = false) {
      if (pattern_.substr(at_).starts_with("[:")) {
        const std::size_t end = pattern_.find(":]", at_ + 2);
        if (end != std::string_view::npos) {
          if (!add_class(set, pattern_.substr(at_ + 2, end - at_ - 2))) {
            return false;
          }
          at_ = end + 2;
          continue;
        }
      }
      unsigned char low = 0;
      if (!member(low)) {
        return false;
      }
      unsigned char high = low;
      if (at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']') {
        ++at_;
        if (!member(high)) {
          return false;
        }
      }
      for (unsigned value = low; value <= high; ++value) {
        set.set(value);
      }
    }
    if (at_ >= pattern_.size()) {
      return false;
    }
    ++at_;
    if (negated) {
      set.flip();
    }
    if (options_.pathname) {
      set.reset(byte_of('/'));
    }
    append_set(set);
    return true;
  }

  void append_set(const Bytes& set) {
    if (set.none()) {
      out_ += "[^\\x00-\\xff]";
      return;
    }
    out_ += '[';
    for (unsigned value = 0; value < 256; ++value) {
      if (set.test(value)) {
        out_ += hex_byte(value);
      }
    }
    out_ += ']';
  }

  std::string_view pattern_;
  GlobOptions options_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string out_;
};

bool is_literal(std::string_view text, const GlobOptions& options) {
  return text.find_first_of(options.braces ? "*?[\\{}," : "*?[\\") == std::string_view::npos;
}

}  // namespace

std::optional<Glob> Glob::compile(std::string_view pattern, const GlobOptions& options) {
  Glob glob;
  if (is_literal(pattern, options)) {
    glob.text_ = pattern;
    return glob;
  }
  if (pattern.starts_with('*') && is_literal(pattern.substr(1), options) &&
      pattern.find('/') == std::string_view::npos) {
    glob.form_ = Form::Suffix;
    glob.text_ = pattern.substr(1);
    return glob;
  }
  const auto regex = Translator(pattern, options).run();
  if (!regex) {
    return std::nullopt;
  }
  re2::RE2::Options settings(re2::RE2::Latin1);
  settings.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(*regex, settings);
  if (!compiled->ok()) {
    return std::nullopt;
  }
  glob.form_ = Form::Regex;
  glob.regex_ = std::move(compiled);
  return glob;
}

bool Glob::matches(std::string_view path) const {
  switch (form_) {
    case Form::Literal:
      return path == text_;
    case Form::Suffix:
      return path.ends_with(text_) &&
             path.substr(0, path.size() - text_.size()).find('/') == std::string_view::npos;
    case Form::Regex:
      return re2::RE2::FullMatch(re2::StringPiece(path.data(), path.size()), *regex_);
  }
  return false;
}

std::optional<GlobList> GlobList::compile(const std::vector<std::string>& patterns,
                                          std::string& bad) {
  GlobList list;
  for (const std::string& written : patterns) {
    std::string_view pattern = written;
    const bool negative = pattern.starts_with('!');
    pattern.remove_prefix(negative ? 1 : 0);
    if (pattern.starts_with("./")) {
      pattern.remove_prefix(2);
    }
    const bool whole = pattern.find('/') != std::string_view::npos;
    pattern.remove_prefix(pattern.starts_with('/') ? 1 : 0);
    auto glob = pattern.empty() ? std::nullopt : Glob::compile(pattern, {.braces = true});
    if (!glob) {
      bad = written;
      return std::nullopt;
    }
    list.any_positive_ = list.any_positive_ || !negative;
    list.entries_.push_back({*std::move(glob), negative, whole});
  }
  return list;
}

bool GlobList::keeps(std::string_view path) const {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->glob.matches(entry->whole ? path : base)) {
      return !entry->negative;
    }
  }
  return !any_positive_;
}

}  // namespace bawn::files
