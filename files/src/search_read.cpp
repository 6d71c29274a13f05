#include "glob.hpp"
#include "lines.hpp"
#include "load.hpp"
#include "paths.hpp"
#include "rg.hpp"
#include "search.hpp"
#include "text_encoding.hpp"
#include "utf8.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace bawn::files {

namespace {

constexpr std::size_t kMaxKept = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kMaxNamedFile = std::size_t{256} * 1024 * 1024;  // of a file that is the root

/// What `\w`, `\d` and `\s` mean to rg, beyond ASCII; as the inside of a class of RE2's.
constexpr std::string_view kWord = "\\pL\\pM\\p{Nd}\\p{Nl}\\p{Pc}";
constexpr std::string_view kDigit = "\\p{Nd}";
constexpr std::string_view kSpace = "\\t-\\r\\x{85}\\pZ";

std::string_view class_of(char letter) {
  switch (letter | 0x20) {
    case 'w':
      return kWord;
    case 'd':
      return kDigit;
    case 's':
      return kSpace;
    default:
      return {};
  }
}

/// What stands for a backslash and `letter`.
std::string escaped(char letter, bool within_brackets) {
  const std::string_view inside = class_of(letter);
  const bool negated = letter >= 'A' && letter <= 'Z';
  if (inside.empty() || (within_brackets && negated)) {
    return {'\\', letter};
  }
  return within_brackets ? std::string(inside) : fmt::format("[{}{}]", negated ? "^" : "", inside);
}

/// The pattern with rg's classes in place of RE2's, which know ASCII only. A negated one within
/// brackets stays: it cannot be written there.
std::string with_unicode_classes(std::string_view pattern) {
  std::string out;
  std::size_t bracket = std::string_view::npos;  // where the open one begins
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const bool within = bracket != std::string_view::npos;
    if (within && pattern.substr(at).starts_with("[:")) {
      const std::size_t end = std::min(pattern.find(":]", at), pattern.size() - 2);
      out += pattern.substr(at, end + 2 - at);
      at = end + 1;
    } else if (c != '\\' || at + 1 == pattern.size()) {
      // At its beginning a closing bracket is a letter like others.
      const std::size_t first = within && pattern.substr(bracket).starts_with("[^") ? 2 : 1;
      bracket = !within && c == '['                          ? at
                : within && c == ']' && at - bracket > first ? std::string_view::npos
                                                             : bracket;
      out += c;
    } else {
      out += escaped(pattern[++at], within);
    }
  }
  return out;
}

re2::RE2::Options regex_options(const SearchQuery& query) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!query.ignore_case);
  return options;
}

Result<std::unique_ptr<re2::RE2>> compile(const SearchQuery& query) {
  const std::string pattern =
      query.literal ? re2::RE2::QuoteMeta(query.pattern) : with_unicode_classes(query.pattern);
  const re2::RE2 alone(pattern, regex_options(query));
  if (!alone.ok()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "the pattern is no regular expression: " + alone.error());
  }
  // One group more, whose place is the match's. Of a word, as rg says it: no other word's letter
  // stands beside it.
  auto regex = std::make_unique<re2::RE2>(
      query.word ? fmt::format("(?:^|[^{0}])({1})(?:[^{0}]|$)", kWord, pattern)
                 : "(" + pattern + ")",
      regex_options(query));
  if (!regex->ok()) {
    return contract::fail(ErrorCode::InvalidArgument, "the pattern is too large");
  }
  return regex;
}

/// What of a line the pattern is matched with.
std::string_view matched_part(std::string_view line, bool with_carriage_return) {
  line.remove_suffix(line.ends_with('\n') ? 1 : 0);
  line.remove_suffix(!with_carriage_return && line.ends_with('\r') ? 1 : 0);
  return line;
}

/// The lines of one text that match, with their context.
FoundFile search_text(std::string_view text, const re2::RE2& regex, const SearchQuery& query) {
  FoundFile file;
  const auto lines = split_lines(text);
  const bool with_carriage_return = names_carriage_return(query);
  std::vector<std::size_t> columns(lines.size(), std::string_view::npos);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = matched_part(lines[i], with_carriage_return);
    std::array<re2::StringPiece, 2> found;
    if (regex.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(),
                    re2::RE2::UNANCHORED, found.data(), found.size())) {
      columns[i] = static_cast<std::size_t>(found[1].data() - line.data());
      ++file.matched_lines;
    }
  }
  if (query.only_counts || file.matched_lines == 0) {
    return file;
  }
  std::size_t shown = 0;  // lines before this one were looked at
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (columns[i] == std::string_view::npos) {
      continue;
    }
    const std::size_t first = std::max(shown, i - std::min(i, query.before));
    std::size_t end = std::min(lines.size(), i + 1 + query.after);
    for (std::size_t at = first; at < end; ++at) {
      const bool match = columns[at] != std::string_view::npos;
      if (match && at > i) {
        end = at;  // its own turn comes next
        break;
      }
      file.lines.push_back({.number = at + 1,
                            .text = to_valid_utf8(without_line_end(lines[at])),
                            .match = match,
                            .column = match ? columns[at] : 0});
    }
    shown = std::max(shown, end);
  }
  return file;
}

/// As rg: NUL makes a file binary, and UTF-16 is read only with its mark.
std::optional<std::string> searchable(std::string bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    bytes = utf16_for_reading(bytes);
  } else if (bytes.starts_with("\xEF\xBB\xBF")) {
    bytes.erase(0, 3);
  }
  return bytes.find('\0') == std::string::npos ? std::optional(std::move(bytes)) : std::nullopt;
}

Result<std::vector<std::string>> files_to_search(const contract::Context& context,
                                                 const Place& place, const std::string& root,
                                                 const SearchQuery& query, SearchResult& result) {
  auto walk = BAWN_TRY(walk_files(context, place, root, query.walk));
  result.notes = std::move(walk.notes);
  result.notes.resize(std::min<std::size_t>(result.notes.size(), 10));
  result.late = walk.late;
  return std::move(walk.files);
}

Result<> keep_types(std::vector<std::string>& files, const std::vector<std::string>& types) {
  if (types.empty()) {
    return {};
  }
  std::vector<std::string> globs;
  for (const std::string& type : types) {
    const auto* known = globs_of_type(type);
    if (known == nullptr) {
      return contract::fail(
          ErrorCode::Unsupported,
          fmt::format("the file type {} is known only where rg is; use globs", type));
    }
    globs.insert(globs.end(), known->begin(), known->end());
  }
  std::string bad;
  const auto list = GlobList::compile(globs, bad);
  std::erase_if(files, [&](const std::string& path) { return !list || !list->keeps(path); });
  return {};
}

}  // namespace

const std::vector<std::string>* globs_of_type(std::string_view type) {
  // ripgrep's own definitions of the common ones.
  static const std::array<std::pair<std::string_view, std::vector<std::string>>, 24> kTypes = {{
      {"c", {"*.[chH]", "*.[chH].in", "*.cats"}},
      {"cmake", {"*.cmake", "CMakeLists.txt"}},
      {"cpp",
       {"*.[ChH]", "*.[ChH].in", "*.[ch]pp", "*.[ch]pp.in", "*.[ch]xx", "*.[ch]xx.in", "*.cc",
        "*.cc.in", "*.hh", "*.hh.in", "*.inl"}},
      {"csharp", {"*.cs"}},
      {"css", {"*.css", "*.scss"}},
      {"docker", {"*Dockerfile*"}},
      {"go", {"*.go"}},
      {"h", {"*.h", "*.hpp"}},
      {"html", {"*.ejs", "*.htm", "*.html"}},
      {"java", {"*.java", "*.jsp", "*.jspx", "*.properties"}},
      {"js", {"*.js", "*.jsx", "*.vue"}},
      {"json", {"*.json", "composer.lock"}},
      {"kotlin", {"*.kt", "*.kts"}},
      {"lua", {"*.lua"}},
      {"md", {"*.markdown", "*.md", "*.mdown", "*.mkdn"}},
      {"php", {"*.php", "*.php3", "*.php4", "*.php5", "*.phtml"}},
      {"py", {"*.py"}},
      {"rust", {"*.rs"}},
      {"sql", {"*.psql", "*.sql"}},
      {"swift", {"*.swift"}},
      {"toml", {"*.toml", "Cargo.lock"}},
      {"ts", {"*.ts", "*.tsx"}},
      {"txt", {"*.txt"}},
      {"yaml", {"*.yaml", "*.yml"}},
  }};
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(),
                                         [&](const auto& entry) { return entry.first == type; });
  return found == kTypes.end() ? nullptr : &found->second;
}

Result<SearchResult> search_by_reading(const contract::Context& context, const Place& place,
                                       const SearchScope& scope, const SearchQuery& query,
                                       const std::string& why) {
  SearchResult result;
  result.by_rg = false;
  const auto regex = BAWN_TRY(compile(query));
  const std::string& root = scope.root;
  std::vector<std::string> files;
  if (scope.root_is_file) {
    files.push_back(root.substr(root.rfind('/') + 1));
  } else if (scope.only != nullptr) {
    files = *scope.only;
  } else {
    files = BAWN_TRY(files_to_search(context, place, root, query, result));
  }
  result.notes.push_back(no_rg_note(why));
  if (!scope.root_is_file) {
    BAWN_TRY(keep_types(files, query.walk.types));
  }
  const std::string directory = scope.root_is_file ? root.substr(0, root.rfind('/'))
                                : root == "/"      ? ""
                                                   : root;
  std::size_t kept = 0;
  for (const std::string& name : files) {
    if (context.ended_at(contract::Context::Clock::now()) && !context.cancelled()) {
      result.late = true;
      break;
    }
    auto loaded = load_file(context, place, directory + "/" + name,
                            scope.root_is_file ? kMaxNamedFile : query.walk.max_file_bytes);
    if (!loaded) {
      if (context.cancelled() || scope.root_is_file) {
        return std::unexpected(loaded.error());
      }
      if (result.notes.size() < 10) {
        result.notes.push_back(loaded.error().message());
      }
      continue;
    }
    const auto text = searchable(std::move(loaded->bytes));
    if (!text) {
      continue;
    }
    FoundFile file = search_text(*text, *regex, query);
    if (file.matched_lines == 0) {
      continue;
    }
    file.path = name;
    for (const FoundLine& line : file.lines) {
      kept += line.text.size();
    }
    result.files.push_back(std::move(file));
    if (kept > kMaxKept) {
      result.cut = true;
      break;
    }
  }
  return result;
}

}  // namespace bawn::files
