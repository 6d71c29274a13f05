#include "denial.hpp"
#include "finder.hpp"
#include "finding.hpp"
#include "rg.hpp"
#include "search.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace bawn::files {

namespace {

using contract::field;

struct SearchArgs {
  std::string pattern;
  FindArgs where;
  bool literal = false;
  bool ignore_case = false;
  bool word = false;
  int context = 0;
  std::optional<int> before;
  std::optional<int> after;
  std::vector<std::string> types;
  std::string show = "lines";
  int limit = 200;
  int max_line_bytes = 400;
  std::uint64_t max_file_bytes = std::uint64_t{64} * 1024 * 1024;
  int timeout_seconds = 60;

  static constexpr auto describe() {
    return contract::fields(
        field("pattern", &SearchArgs::pattern)
            .desc("Regular expression (ripgrep's), one line at a time"),
        contract::embed(&SearchArgs::where),
        field("literal", &SearchArgs::literal).desc("The pattern is plain text").with_default(),
        field("ignore_case", &SearchArgs::ignore_case)
            .desc("Upper and lower case are alike")
            .with_default(),
        field("word", &SearchArgs::word).desc("Whole words only").with_default(),
        field("context", &SearchArgs::context)
            .desc("Lines shown around each match")
            .with_default()
            .range(0, 100),
        field("before", &SearchArgs::before).desc("Lines shown before each match").range(0, 100),
        field("after", &SearchArgs::after).desc("Lines shown behind each match").range(0, 100),
        field("types", &SearchArgs::types)
            .desc("Only files of these types, by ripgrep's names: cpp, py, rust, …")
            .optional(),
        field("show", &SearchArgs::show)
            .one_of("lines,files,counts")
            .desc("Matching lines, only the files, or the number of matching lines of each")
            .with_default(),
        field("limit", &SearchArgs::limit)
            .desc("Matching lines (or files) shown at most")
            .with_default()
            .range(1, 10'000),
        field("max_line_bytes", &SearchArgs::max_line_bytes)
            .desc("Longer lines are shown around their match")
            .with_default()
            .range(40, 100'000),
        field("max_file_bytes", &SearchArgs::max_file_bytes)
            .desc("Larger files below a directory are skipped")
            .with_default()
            .at_least(1),
        field("timeout_seconds", &SearchArgs::timeout_seconds)
            .desc("End the search then and show what was found")
            .with_default()
            .range(1, 600));
  }
};

struct LineEntry {
  std::uint64_t line = 0;
  std::string text;
  bool match = true;
  std::uint64_t column = 0;

  static constexpr auto describe() {
    return contract::fields(field("line", &LineEntry::line).desc("Line number, from 1"),
                            field("text", &LineEntry::text).desc("The line"),
                            field("match", &LineEntry::match).desc("False for a line of context"),
                            field("column", &LineEntry::column)
                                .desc("Byte of the line where the match begins, from 1"));
  }
};

struct FileEntry {
  std::string path;
  std::uint64_t matching_lines = 0;
  std::vector<LineEntry> lines;

  static constexpr auto describe() {
    return contract::fields(
        field("path", &FileEntry::path).desc("Relative to root; its name when root is a file"),
        field("matching_lines", &FileEntry::matching_lines).desc("All of them, shown or not"),
        field("lines", &FileEntry::lines).desc("Lines shown"));
  }
};

struct SearchEntry {
  FindEntry found;
  std::vector<FileEntry> files;
  std::uint64_t total_lines = 0;
  bool timed_out = false;

  static constexpr auto describe() {
    return contract::fields(
        contract::embed(&SearchEntry::found),
        field("files", &SearchEntry::files).desc("Files with matches, sorted by path"),
        field("total_lines", &SearchEntry::total_lines).desc("Matching lines, shown or not"),
        field("timed_out", &SearchEntry::timed_out)
            .desc("timeout_seconds ended it: there may be more"));
  }
};

constexpr const char* kDescription =
    "Search the contents of files with ripgrep inside the session's wall: matching lines with "
    "their "
    "numbers, sorted by path, with context on request. Files that git ignores, .git, binary files "
    "and files over max_file_bytes are left out. show files or counts for an overview.";

/// A long line's part around its match, cut between characters.
std::string around(const std::string& text, std::size_t column, std::size_t most) {
  if (text.size() <= most) {
    return text;
  }
  std::size_t begin = column > most / 2 ? column - most / 2 : 0;
  begin = cut_at(text, std::min(begin, text.size() - most));
  const std::string_view part = std::string_view(text).substr(begin);
  return fmt::format("{}{}{}", begin == 0 ? "" : "…", part.substr(0, cut_at(part, most)),
                     begin + most < text.size() ? "…" : "");
}

void add_file(FoundFile& found, const SearchArgs& args, std::size_t& left, SearchEntry& entry) {
  FileEntry file{
      .path = to_valid_utf8(found.path), .matching_lines = found.matched_lines, .lines = {}};
  if (args.show != "lines") {
    --left;
    entry.files.push_back(std::move(file));
    return;
  }
  for (FoundLine& line : found.lines) {
    if (line.match && left == 0) {
      entry.found.truncated = true;
      break;
    }
    left -= line.match ? 1 : 0;
    file.lines.push_back(
        {.line = line.number,
         .text = around(line.text, line.column, static_cast<std::size_t>(args.max_line_bytes)),
         .match = line.match,
         .column = line.match ? line.column + 1 : 0});
  }
  entry.files.push_back(std::move(file));
}

std::string text_of(const SearchEntry& entry, const SearchArgs& args) {
  std::string text;
  for (const FileEntry& file : entry.files) {
    if (args.show != "lines") {
      text += args.show == "files" ? file.path + "\n"
                                   : fmt::format("{}: {}\n", file.path, file.matching_lines);
      continue;
    }
    text += file.path + "\n";
    std::uint64_t last = 0;
    for (const LineEntry& line : file.lines) {
      if (last != 0 && line.line > last + 1 && (args.context != 0 || args.before || args.after)) {
        text += "--\n";
      }
      text += fmt::format("{}{}{}\n", line.line, line.match ? ":" : "-", line.text);
      last = line.line;
    }
    text += "\n";
  }
  const FindEntry& found = entry.found;
  text += found.total_files == 0
              ? std::string("[no matches]\n")
              : fmt::format("[{} matching {} in {} {}{}]\n", entry.total_lines,
                            entry.total_lines == 1 ? "line" : "lines", found.total_files,
                            found.total_files == 1 ? "file" : "files",
                            found.truncated ? "; not all are shown" : "");
  append_notes(text, found);
  return text;
}

SearchQuery query_of(const SearchArgs& args) {
  SearchQuery query;
  query.pattern = args.pattern;
  query.literal = args.literal;
  query.ignore_case = args.ignore_case;
  query.word = args.word;
  query.before = static_cast<std::size_t>(args.before.value_or(args.context));
  query.after = static_cast<std::size_t>(args.after.value_or(args.context));
  query.only_counts = args.show != "lines";
  query.walk = walk_options(args.where);
  query.walk.max_file_bytes = args.max_file_bytes;
  query.walk.types = args.types;
  return query;
}

Result<> check_words(const SearchArgs& args) {
  if (args.pattern.empty() || args.pattern.find('\0') != std::string::npos) {
    return contract::fail(ErrorCode::InvalidArgument, "pattern: must not be empty or hold NUL");
  }
  for (const std::string& type : args.types) {
    if (type.empty() ||
        type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_+#") != std::string::npos) {
      return contract::fail(ErrorCode::InvalidArgument,
                            "types: expected names such as cpp, py or rust");
    }
  }
  return {};
}

/// Puts what was found into the entry, as far as limits go.
void add_result(SearchResult& result, const SearchArgs& args, SearchEntry& entry) {
  FindEntry& found = entry.found;
  found.engine = result.by_rg ? "rg" : "walk";
  found.notes = std::move(result.notes);
  if (result.cut) {
    found.truncated = true;
    found.notes.emplace_back(
        "There were too many matches to hold; narrow the search. The files shown are some of "
        "them.");
  }
  if (result.late) {
    entry.timed_out = true;
    found.truncated = true;
    found.notes.push_back(
        fmt::format("The search was ended after {} s and there may be more; narrow it, or raise "
                    "timeout_seconds",
                    args.timeout_seconds));
  }
  auto left = static_cast<std::size_t>(args.limit);
  for (FoundFile& file : result.files) {
    ++found.total_files;
    entry.total_lines += file.matched_lines;
    if (left == 0) {
      found.truncated = true;
      continue;
    }
    add_file(file, args, left, entry);
  }
}

Result<SearchResult> search(const contract::Context& context, const Place& place,
                            const SearchArgs& args, const FindRoot& root) {
  const SearchQuery query = query_of(args);
  SearchScope scope{.root = root.path,
                    .root_is_file = root.type != sandbox::FileType::Directory,
                    .only = nullptr};
  if (root.globs.empty() || scope.root_is_file) {
    return place.warden == nullptr ? search_by_reading(context, place, scope, query, no_programs())
                                   : search_by_rg(context, place, scope, query);
  }
  // rg's own --glob would bring ignored files back; names that were chosen here do not.
  Found chosen = BAWN_TRY(find_files(context, place, root.path, query.walk));
  std::erase_if(chosen.files, [&](const std::string& path) { return !root.globs.keeps(path); });
  scope.only = &chosen.files;
  auto result =
      BAWN_TRY(chosen.by_rg ? search_by_rg(context, place, scope, query)
                            : search_by_reading(context, place, scope, query, chosen.why_no_rg));
  result.late = result.late || chosen.late;
  result.cut = result.cut || chosen.cut;
  return result;
}

contract::Outcome search_files(const ToolSupport& support, const contract::Context& context,
                               const SearchArgs& args) {
  const auto place = support.place(context, args.where.session);
  if (!place) {
    return place.error();
  }
  const auto searched = [&]() -> Result<SearchEntry> {
    SearchEntry entry;
    BAWN_TRY(check_words(args));
    const FindRoot root = BAWN_TRY(find_root(context, *place, args.where));
    const auto rule = why_hidden(*place, root.path);
    if (rule && root.type == sandbox::FileType::CharacterDevice) {
      return std::unexpected(hidden(*place, args.where.path, *rule));
    }
    if (root.type != sandbox::FileType::Directory && root.type != sandbox::FileType::Regular) {
      return contract::fail(ErrorCode::InvalidArgument,
                            fmt::format("{} is {}; only regular files are searched",
                                        args.where.path, sandbox::to_string(root.type)));
    }
    entry.found.root = root.path;
    const auto end = contract::Context::Clock::now() + std::chrono::seconds(args.timeout_seconds);
    auto result = search(context.with_deadline(end), *place, args, root);
    if (!result && result.error().is(ErrorCode::DeadlineExceeded) &&
        !context.ended_at(contract::Context::Clock::now())) {
      result = SearchResult();
      result->late = true;
    }
    if (!result) {
      return std::unexpected(result.error());
    }
    add_result(*result, args, entry);
    tell_if_hidden(*place, entry.found);
    return entry;
  }();
  if (!searched) {
    return ToolSupport::failure(*place, searched.error());
  }
  return support.outcome(*place, text_of(*searched, args), *searched);
}

}  // namespace

Result<contract::ToolPtr> make_search_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "Search in files",
                                                         .read_only = true,
                                                         .destructive = false,
                                                         .idempotent = true,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<SearchEntry>());
  options.cli =
      contract::CliInfo{.group = "files", .operation = "search", .positional = {"pattern", "path"}};
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return support->views(context, args);
  };
  options.replay = [](const contract::Context&, std::string_view) {
    return contract::Replay::Safe;
  };
  return contract::make_tool<SearchArgs>(
      "search_files", kDescription,
      [support](const contract::Context& context, const SearchArgs& args) {
        return search_files(*support, context, args);
      },
      std::move(options));
}

Result<std::vector<contract::ToolPtr>> make_file_tools(std::shared_ptr<Places> places,
                                                       const ToolOptions& options) {
  const std::string directory = options.state_dir.empty() ? "/tmp" : options.state_dir;
  auto undo = BAWN_TRY(
      UndoStore::make(directory, {.bytes = options.undo_bytes, .changes = options.undo_changes}));
  const auto support =
      std::make_shared<const ToolSupport>(std::move(places), options, std::move(undo));
  std::vector<contract::ToolPtr> tools;
  for (const auto& make : {make_read_tool, make_write_tool, make_edit_tool, make_patch_tool,
                           make_undo_tool, make_list_tool, make_search_tool}) {
    tools.push_back(BAWN_TRY(make(support)));
  }
  return tools;
}

}  // namespace bawn::files
