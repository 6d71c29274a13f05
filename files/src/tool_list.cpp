#include "finder.hpp"
#include "finding.hpp"
#include "utf8.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace bawn::files {

namespace {

using contract::field;

struct ListArgs {
  FindArgs where;
  std::optional<int> depth;
  std::string format = "flat";
  bool details = false;
  int limit = 1000;
  int timeout_seconds = 60;

  static constexpr auto describe() {
    return contract::fields(
        contract::embed(&ListArgs::where),
        field("depth", &ListArgs::depth)
            .desc("Levels shown; a directory below is one line with its number of files. 1 = the "
                  "directory itself")
            .range(1, 100),
        field("format", &ListArgs::format)
            .one_of("flat,tree")
            .desc("How the text looks")
            .with_default(),
        field("details", &ListArgs::details)
            .desc("Size, time and mode of each file")
            .with_default(),
        field("limit", &ListArgs::limit).desc("Entries at most").with_default().range(1, 100'000),
        field("timeout_seconds", &ListArgs::timeout_seconds)
            .desc("End the listing then and show what was found")
            .with_default()
            .range(1, 600));
  }
};

struct ListedEntry {
  std::string path;
  std::string type;
  std::optional<std::uint64_t> files;
  std::optional<std::uint64_t> size;
  std::optional<std::string> mtime;
  std::optional<std::string> mode;

  static constexpr auto describe() {
    return contract::fields(
        field("path", &ListedEntry::path).desc("Relative to root"),
        field("type", &ListedEntry::type).one_of("file,directory").desc("What it is"),
        field("files", &ListedEntry::files).desc("Files below a directory that is not opened up"),
        field("size", &ListedEntry::size).desc("Bytes"),
        field("mtime", &ListedEntry::mtime).desc("Last change, UTC"),
        field("mode", &ListedEntry::mode).desc("Permission bits, octal"));
  }
};

struct ListEntry {
  FindEntry found;
  std::vector<ListedEntry> entries;
  bool timed_out = false;

  static constexpr auto describe() {
    return contract::fields(contract::embed(&ListEntry::found),
                            field("entries", &ListEntry::entries).desc("Sorted by path"),
                            field("timed_out", &ListEntry::timed_out)
                                .desc("timeout_seconds ended it: there may be more"));
  }
};

constexpr const char* kDescription =
    "List the files below a directory, sorted, as git sees them: ignored files and .git are left "
    "out. Globs choose, depth folds deeper directories into one line each, format tree indents. "
    "Directories without files do not appear. To look into files use search_files.";

/// The first `depth` parts of a path, when it has more.
std::optional<std::string_view> folded(std::string_view path, int depth) {
  std::size_t at = 0;
  for (int level = 0; level < depth; ++level) {
    at = path.find('/', level == 0 ? 0 : at + 1);
    if (at == std::string_view::npos) {
      return std::nullopt;
    }
  }
  return path.substr(0, at);
}

/// The entries to show, and how many were left out. Sorted paths keep a directory's files together.
void add_entries(const std::vector<std::string>& files, const ListArgs& args, ListEntry& entry) {
  const auto limit = static_cast<std::size_t>(args.limit);
  for (const std::string& file : files) {
    const auto directory = args.depth ? folded(file, *args.depth) : std::nullopt;
    if (directory && !entry.entries.empty() && entry.entries.back().type == "directory" &&
        entry.entries.back().path == *directory) {
      ++*entry.entries.back().files;
      continue;
    }
    if (entry.entries.size() == limit) {
      entry.found.truncated = true;
      return;
    }
    ListedEntry listed;
    listed.path = directory ? std::string(*directory) : file;
    listed.type = directory ? "directory" : "file";
    if (directory) {
      listed.files = 1;
    }
    entry.entries.push_back(std::move(listed));
  }
}

void add_details(const contract::Context& context, const Place& place, ListEntry& entry) {
  for (ListedEntry& listed : entry.entries) {
    const auto status = place.files->status(context, entry.found.root + "/" + listed.path,
                                            sandbox::FileAgent::Links::Keep);
    if (status) {
      listed.mode = octal(status->mode);
      listed.mtime =
          fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                      fmt::gmtime(static_cast<std::time_t>(status->mtime_ns / 1'000'000'000)));
      if (listed.type == "file") {
        listed.size = status->size;
      }
    }
  }
}

std::string line_of(const ListedEntry& entry, std::string_view name) {
  std::string line(name);
  if (entry.type == "directory") {
    line += fmt::format("/ ({} {})", *entry.files, *entry.files == 1 ? "file" : "files");
  }
  if (entry.mtime) {
    line += fmt::format("  {} {} {}", *entry.mode,
                        entry.size ? std::to_string(*entry.size) : std::string("-"), *entry.mtime);
  }
  return line + "\n";
}

/// Each directory once, its files indented below it.
std::string tree_of(const ListEntry& entry) {
  std::string text;
  std::string_view open;
  for (const ListedEntry& listed : entry.entries) {
    const std::string_view path = listed.path;
    const std::size_t slash = path.rfind('/');
    const std::string_view parent =
        slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    if (parent != open) {
      // Parts that are new since the line before.
      std::size_t at = 0;
      int level = 0;
      while (at < parent.size()) {
        const std::size_t end = std::min(parent.find('/', at), parent.size());
        const std::string_view whole = parent.substr(0, end);
        const bool is_open =
            open == whole || (open.starts_with(whole) && open[whole.size()] == '/');
        if (!is_open) {
          text += std::string(static_cast<std::size_t>(level) * 2, ' ') +
                  std::string(parent.substr(at, end - at)) + "/\n";
        }
        ++level;
        at = end + 1;
      }
      open = parent;
    }
    const auto level = parent.empty() ? 0 : std::count(parent.begin(), parent.end(), '/') + 1;
    text += std::string(static_cast<std::size_t>(level) * 2, ' ') +
            line_of(listed, path.substr(slash == std::string_view::npos ? 0 : slash + 1));
  }
  return text;
}

std::string text_of(const ListEntry& entry, const ListArgs& args) {
  std::string text;
  if (args.format == "tree") {
    text = tree_of(entry);
  } else {
    for (const ListedEntry& listed : entry.entries) {
      text += line_of(listed, listed.path);
    }
  }
  if (entry.found.total_files == 0) {
    text += entry.found.notes.empty() ? "[no files]\n" : "[no files were found; see below]\n";
  }
  if (entry.found.truncated && entry.entries.size() == static_cast<std::size_t>(args.limit)) {
    text += fmt::format("[{} entries of {} files shown; use globs, depth or a larger limit]\n",
                        entry.entries.size(), entry.found.total_files);
  }
  append_notes(text, entry.found);
  return to_valid_utf8(text);
}

/// What the listing's own time limit ended is a part; what ends the call is an error.
Result<Found> find(const contract::Context& context, const Place& place, const ListArgs& args,
                   const FindRoot& root) {
  using Clock = contract::Context::Clock;
  const auto end = Clock::now() + std::chrono::seconds(args.timeout_seconds);
  auto found = find_files(context.with_deadline(end), place, root.path, walk_options(args.where));
  if ((!found && !found.error().is(ErrorCode::DeadlineExceeded)) || (found && !found->late)) {
    return found;
  }
  if (context.ended_at(Clock::now())) {
    return contract::fail(ErrorCode::DeadlineExceeded,
                          "the deadline passed while files were listed");
  }
  if (!found) {
    found = Found();
    found->late = true;
  }
  return found;
}

void tell_what_is_missing(const Found& found, const ListArgs& args, ListEntry& entry) {
  if (found.late) {
    entry.timed_out = true;
    entry.found.truncated = true;
    entry.found.notes.push_back(
        fmt::format("The listing was ended after {} s and there may be more; name a smaller "
                    "directory, or raise timeout_seconds",
                    args.timeout_seconds));
  }
  if (found.cut) {
    entry.found.truncated = true;
    entry.found.notes.emplace_back(
        "There are more names than can be held; name a smaller directory");
  }
}

contract::Outcome list_files(const ToolSupport& support, const contract::Context& context,
                             const ListArgs& args) {
  const auto place = support.place(context, args.where.session);
  if (!place) {
    return place.error();
  }
  const auto listed = [&]() -> Result<ListEntry> {
    ListEntry entry;
    const FindRoot root = BAWN_TRY(find_root(context, *place, args.where));
    if (root.type != sandbox::FileType::Directory) {
      return contract::fail(ErrorCode::InvalidArgument,
                            args.where.path + " is no directory; read_file shows a file");
    }
    entry.found.root = root.path;
    Found found = BAWN_TRY(find(context, *place, args, root));
    if (!root.globs.empty()) {
      std::erase_if(found.files, [&](const std::string& path) { return !root.globs.keeps(path); });
    }
    entry.found.total_files = found.files.size();
    entry.found.engine = found.by_rg ? "rg" : "walk";
    entry.found.notes = std::move(found.notes);
    add_entries(found.files, args, entry);
    tell_what_is_missing(found, args, entry);
    tell_if_hidden(*place, entry.found);
    if (args.details) {
      add_details(context, *place, entry);
    }
    return entry;
  }();
  if (!listed) {
    return ToolSupport::failure(*place, listed.error());
  }
  return support.outcome(*place, text_of(*listed, args), *listed);
}

}  // namespace

Result<contract::ToolPtr> make_list_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "List files",
                                                         .read_only = true,
                                                         .destructive = false,
                                                         .idempotent = true,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<ListEntry>());
  options.cli = contract::CliInfo{.group = "files", .operation = "list", .positional = {"path"}};
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return support->views(context, args);
  };
  options.replay = [](const contract::Context&, std::string_view) {
    return contract::Replay::Safe;
  };
  return contract::make_tool<ListArgs>(
      "list_files", kDescription,
      [support](const contract::Context& context, const ListArgs& args) {
        return list_files(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::files
