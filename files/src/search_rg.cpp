#include "bawn/contract/json.hpp"
#include "denial.hpp"
#include "lines.hpp"
#include "paths.hpp"
#include "rg.hpp"
#include "search.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace bawn::files {

namespace {

using contract::Json;

constexpr std::size_t kMaxOutput = std::size_t{64} * 1024 * 1024;
/// Of the names of one rg; the kernel takes 2 MiB in all on common settings.
constexpr std::size_t kMaxNames = std::size_t{512} * 1024;

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') {
    return c - 'A';
  }
  if (c >= 'a' && c <= 'z') {
    return c - 'a' + 26;
  }
  if (c >= '0' && c <= '9') {
    return c - '0' + 52;
  }
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    if (digit < 0) {
      break;
    }
    bits = (bits << 6U) | static_cast<unsigned>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 0xFFU);
    }
  }
  return bytes;
}

/// rg's {"text": …} or {"bytes": base64}.
std::string text_in(const Json& data, std::string_view name) {
  const auto member = data.find(name);
  if (member == data.end() || !member->is_object()) {
    return {};
  }
  if (const auto text = member->find("text"); text != member->end() && text->is_string()) {
    return text->get<std::string>();
  }
  const auto bytes = member->find("bytes");
  return bytes != member->end() && bytes->is_string() ? from_base64(bytes->get<std::string>())
                                                      : std::string();
}

/// Of `rg --json`: says something about a file, and shows none of its lines.
bool shows_no_line(std::string_view line) {
  return !line.starts_with("{\"type\":\"match\"") && !line.starts_with("{\"type\":\"context\"");
}

/// Reads `rg --json`. What a file in the workspace holds cannot change its structure: rg escapes
/// it.
class RgReader {
 public:
  RgReader(std::string root, bool root_is_file)
      : root_(std::move(root)), root_is_file_(root_is_file) {}

  void read(std::string_view out) {
    for (const std::string_view line : split_lines(out)) {
      if (line.starts_with("{\"type\":\"summary\"")) {
        continue;
      }
      const auto parsed = contract::parse_json(without_line_end(line));
      if (!parsed || !parsed->is_object()) {
        continue;
      }
      const std::string type = parsed->value("type", "");
      const auto data = parsed->find("data");
      if (data != parsed->end() && data->is_object()) {
        take(type, *data);
      }
    }
  }

  /// The files, those that turned out to be binary left out.
  std::vector<FoundFile> files() {
    std::vector<FoundFile> all;
    for (auto& [path, file] : files_) {
      if (!ended_.contains(path)) {  // rg was ended within it
        file.matched_lines =
            static_cast<std::uint64_t>(std::ranges::count_if(file.lines, &FoundLine::match));
      }
      if (file.matched_lines != 0) {
        all.push_back(std::move(file));
      }
    }
    return all;
  }

 private:
  FoundFile& file_of(const Json& data) {
    const std::string path = text_in(data, "path");
    const std::size_t prefix = root_is_file_  ? root_.rfind('/') + 1
                               : root_ == "/" ? 1
                                              : root_.size() + 1;
    const std::string name = path.size() > prefix ? path.substr(prefix) : path;
    FoundFile& file = files_[name];
    file.path = name;
    return file;
  }

  void take(const std::string& type, const Json& data) {
    if (type == "match" || type == "context") {
      FoundFile& file = file_of(data);
      FoundLine line;
      const auto number = data.find("line_number");
      line.number =
          number != data.end() && number->is_number_unsigned() ? number->get<std::uint64_t>() : 0;
      const std::string text = text_in(data, "lines");
      line.text = to_valid_utf8(without_line_end(text));
      line.match = type == "match";
      const auto parts = data.find("submatches");
      if (parts != data.end() && parts->is_array() && !parts->empty() &&
          parts->front().is_object()) {
        line.column = parts->front().value("start", std::size_t{0});
      }
      file.lines.push_back(std::move(line));
      return;
    }
    if (type != "end") {
      return;
    }
    FoundFile& file = file_of(data);
    ended_.insert(file.path);
    const auto binary = data.find("binary_offset");
    const auto stats = data.find("stats");
    if (binary != data.end() && !binary->is_null()) {
      file.matched_lines = 0;
    } else if (stats != data.end() && stats->is_object()) {
      file.matched_lines = stats->value("matched_lines", std::uint64_t{0});
    }
  }

  std::string root_;
  bool root_is_file_;
  std::map<std::string, FoundFile> files_;
  std::set<std::string> ended_;  ///< read to their end
};

std::vector<std::string> arguments_of(const SearchQuery& query) {
  auto argv = rg_arguments(query.walk);
  // rg's own limits let one pattern take a gigabyte.
  argv.insert(argv.end(), {"--json", "--regex-size-limit=10M", "--dfa-size-limit=32M"});
  if (query.literal) {
    argv.emplace_back("--fixed-strings");
  }
  if (query.ignore_case) {
    argv.emplace_back("--ignore-case");
  }
  if (query.word) {
    argv.emplace_back("--word-regexp");
  }
  if (query.before != 0) {
    argv.push_back(fmt::format("--before-context={}", query.before));
  }
  if (query.after != 0) {
    argv.push_back(fmt::format("--after-context={}", query.after));
  }
  if (!names_carriage_return(query)) {
    argv.emplace_back("--crlf");
  }
  argv.insert(argv.end(), {"-e", query.pattern, "--"});
  return argv;
}

/// Why rg did not start searching, without advice about options that a caller here cannot give.
std::string refusal_of(const std::string& errors) {
  std::string why;
  for (const std::string_view line : split_lines(errors)) {
    if (line.starts_with("Consider enabling")) {
      break;
    }
    why.append(line);
  }
  while (why.ends_with('\n')) {
    why.pop_back();
  }
  const bool lines = why.find("\\n") != std::string::npos;
  return fmt::format(
      "the search cannot be made: {}{}", to_valid_utf8(std::string_view(why).substr(0, 2000)),
      lines ? "\n(a pattern is about one line at a time)" : "\n(literal searches for plain text)");
}

/// Names of one run after the other, each run's below the limit.
std::vector<std::vector<std::string>> batches(const std::string& root,
                                              const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> all;
  std::size_t size = kMaxNames;
  for (const std::string& name : names) {
    const std::string path = (root == "/" ? "" : root) + "/" + name;
    if (size + path.size() + 1 > kMaxNames) {
      all.emplace_back();
      size = 0;
    }
    size += path.size() + 1 + sizeof(char*);
    all.back().push_back(path);
  }
  return all;
}

}  // namespace

Result<SearchResult> search_by_rg(const contract::Context& context, const Place& place,
                                  const SearchScope& scope, const SearchQuery& query) {
  SearchResult result;
  const std::string& root = scope.root;
  RgReader reader(root, scope.root_is_file);
  auto runs = scope.only != nullptr ? batches(root, *scope.only)
                                    : std::vector<std::vector<std::string>>{{root}};
  if (runs.empty()) {
    runs.push_back({"/dev/null"});  // so that a bad pattern is told where no file is chosen, too
  }
  std::size_t left = kMaxOutput;
  for (const auto& names : runs) {
    auto argv = arguments_of(query);
    argv.insert(argv.end(), names.begin(), names.end());
    const auto run =
        run_inside(context, place, std::move(argv), place.workspace,
                   {.most = left, .keep = query.only_counts ? shows_no_line : nullptr});
    if (!run) {
      return std::unexpected(explained(place, root, Access::Read, run.error()));
    }
    if (const auto why = why_no_rg(*run)) {
      return search_by_reading(context, place, scope, query, *why);
    }
    // 2 without its last line is an error of the pattern or the type; with it, of some files.
    if (run->exit_code == 2 && run->err.starts_with(root + ": ")) {  // of the directory itself
      const bool denied = run->err.find("(os error 13)") != std::string::npos;
      return std::unexpected(explained(
          place, root, Access::Read,
          Error(denied ? ErrorCode::PermissionDenied : ErrorCode::NotFound,
                "cannot search " + to_valid_utf8(run->err.substr(0, run->err.find('\n'))))));
    }
    if (run->exit_code == 2 && run->out.find("\"type\":\"summary\"}") == std::string::npos) {
      return contract::fail(ErrorCode::InvalidArgument, refusal_of(run->err));
    }
    reader.read(run->out);
    for (std::string& note : notes_of(run->err)) {
      result.notes.push_back(std::move(note));
    }
    left -= std::min(left, run->out.size());
    if (run->cut || left == 0) {
      result.cut = true;
      break;
    }
    if (run->late) {
      result.late = true;
      break;
    }
  }
  result.files = reader.files();
  return result;
}

}  // namespace bawn::files
