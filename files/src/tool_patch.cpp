#include "denial.hpp"
#include "patch.hpp"
#include "patch_plan.hpp"
#include "paths.hpp"
#include "raw_arguments.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>

namespace bawn::files {

namespace {

using contract::field;

constexpr std::size_t kMaxPatch = std::size_t{32} * 1024 * 1024;

struct PatchArgs {
  std::string patch;
  std::optional<std::string> directory;
  int fuzz = 0;
  bool check_only = false;
  std::optional<std::string> session;

  static constexpr auto describe() {
    return contract::fields(
        field("patch", &PatchArgs::patch)
            .desc(
                "A unified diff as git writes it, or the marked form: \"*** Begin Patch\", \"*** "
                "Update File: PATH\" (or Add, Delete), hunks of \" \", \"-\" and \"+\" lines after "
                "\"@@\" lines, \"*** End Patch\""),
        field("directory", &PatchArgs::directory)
            .desc("Where the patch's paths start, which they do not leave. Left out: the "
                  "workspace. The marked form may name absolute paths instead"),
        field("fuzz", &PatchArgs::fuzz)
            .desc("Context lines that may differ at each end of a hunk; in the marked form 1 also "
                  "lets white space differ")
            .with_default()
            .range(0, 3),
        field("check_only", &PatchArgs::check_only)
            .desc("Say what would happen, refusals included, and change nothing")
            .with_default(),
        field("session", &PatchArgs::session).desc(kSessionHelp));
  }
};

struct PlaceEntry {
  std::string path;
  std::uint64_t patch_line = 0;
  std::uint64_t line = 0;
  std::int64_t offset = 0;
  std::uint64_t fuzz = 0;

  static constexpr auto describe() {
    return contract::fields(
        field("path", &PlaceEntry::path).desc("File of the hunk"),
        field("patch_line", &PlaceEntry::patch_line).desc("Line of the patch where it begins"),
        field("line", &PlaceEntry::line).desc("Line of the new file where it went"),
        field("offset", &PlaceEntry::offset).desc("Lines away from where its head said"),
        field("fuzz", &PlaceEntry::fuzz).desc("Context lines that were left out of account"));
  }
};

struct PatchEntry {
  ChangeEntry changes;
  std::vector<PlaceEntry> hunks;
  bool applied = true;

  static constexpr auto describe() {
    return contract::fields(contract::embed(&PatchEntry::changes),
                            field("hunks", &PatchEntry::hunks).desc("Where each hunk went"),
                            field("applied", &PatchEntry::applied).desc("False after check_only"));
  }
};

constexpr const char* kDescription =
    "Apply a patch to several files, all or none: when one hunk does not fit or one file cannot be "
    "written, nothing is changed, and the sentence names the patch's line and the file. Takes "
    "git's "
    "unified diff (renames, copies, modes, new and deleted files) and the marked form (*** Begin "
    "Patch), which needs no line numbers. Hunks that fit elsewhere report their offset; fuzz only "
    "when asked for. Directories that it leaves empty go. undo_change takes it back.";

/// Relative paths stay below the directory. Where absolute ones of the marked form may lead is for
/// the wall to decide, as for every other tool.
Result<> check_path(const FilePatch& file, const std::string& path, bool marked) {
  if (path.ends_with('/')) {
    return patch_error(file.patch_line, path + ": a name that ends with a slash is no file's");
  }
  const bool climbs = path == ".." || path.starts_with("../") || path.ends_with("/..") ||
                      path.find("/../") != std::string::npos;
  if (climbs || (!marked && path.starts_with('/'))) {
    return patch_error(file.patch_line,
                       fmt::format("{}: the paths of a patch stay below its directory{}", path,
                                   climbs ? "" : "; the form \"*** Begin Patch\" takes others"));
  }
  return {};
}

class PatchCall {
 public:
  PatchCall(const ToolSupport& support, const contract::Context& context, const Place& place,
            const PatchArgs& args)
      : support_(support), context_(context), place_(place), args_(args) {}

  Result<PatchEntry> run() {
    if (args_.patch.size() > kMaxPatch) {
      return contract::fail(ErrorCode::InvalidArgument, "patch: longer than 32 MiB");
    }
    Patch patch = BAWN_TRY(parse_patch(args_.patch));
    directory_ = normal_path(BAWN_TRY(absolute_path(place_, args_.directory.value_or("."))));
    std::vector<std::string> names;
    for (FilePatch& file : patch.files) {
      for (std::string* path : {&file.old_path, &file.new_path}) {
        BAWN_TRY(check_path(file, *path, patch.marked));
        *path = one_spelling(*path);
        names.push_back(absolute(*path));
      }
      if (file.kind == FilePatch::Kind::Delete || file.kind == FilePatch::Kind::Rename) {
        leaving_.push_back(file.old_path);
      }
    }
    const auto held = BAWN_TRY(support_.locks().hold(context_, names));
    PatchPlan plan =
        BAWN_TRY(plan_patch(patch, [this](const std::string& path) { return read(path); },
                            {.fuzz = static_cast<unsigned>(args_.fuzz)}));
    PatchEntry entry;
    describe_places(plan, entry);
    auto changes = BAWN_TRY(changes_of(plan));
    entry.applied = !args_.check_only;
    entry.changes = BAWN_TRY(
        args_.check_only ? support_.forecast(context_, place_, std::move(changes))
                         : support_.change(context_, place_, "apply_patch", std::move(changes)));
    name_kinds(plan, entry.changes);
    return entry;
  }

 private:
  [[nodiscard]] std::string absolute(const std::string& path) const {
    return path.starts_with('/') ? path : (directory_ == "/" ? "" : directory_) + "/" + path;
  }

  /// "./a//b" and its absolute path are "a/b" when it lies below the directory.
  [[nodiscard]] std::string one_spelling(const std::string& path) const {
    const std::string whole = normal_path(absolute(path));
    const std::string top = directory_ == "/" ? "/" : directory_ + "/";
    return whole.starts_with(top) && whole.size() > top.size() ? whole.substr(top.size()) : whole;
  }

  /// How many directories lie between a path and the patch's directory, outside of which none go.
  [[nodiscard]] static int levels_below_directory(const std::string& path) {
    return path.starts_with('/') ? 0 : static_cast<int>(std::ranges::count(path, '/'));
  }

  /// Whether the patch itself makes way for this path: it removes a file above it, or those below
  /// it.
  [[nodiscard]] bool makes_way(const std::string& path) const {
    return std::any_of(leaving_.begin(), leaving_.end(), [&](const std::string& leaving) {
      return lies_below(path, leaving) || lies_below(leaving, path);
    });
  }

  Result<std::optional<FileContent>> read(const std::string& path) {
    const std::string whole = absolute(path);
    auto status = place_.files->status(context_, whole, sandbox::FileAgent::Links::Keep);
    const auto* const failure = status ? nullptr : status.error().find<sandbox::FileFailure>();
    const bool below_a_file = failure != nullptr && failure->errnum == ENOTDIR;
    const bool directory = status && status->type == sandbox::FileType::Directory;
    if ((!status && status.error().code() == ErrorCode::NotFound) ||
        ((below_a_file || directory) && makes_way(path))) {
      return std::optional<FileContent>();
    }
    if (status && status->type == sandbox::FileType::Symlink) {
      return contract::fail(ErrorCode::InvalidArgument,
                            path + " is a symbolic link; patch the file that it names");
    }
    auto loaded =
        BAWN_TRY(load_if_there(context_, place_, whole, support_.options().max_text_file));
    if (!loaded) {
      return std::optional<FileContent>();
    }
    FileContent content{.bytes = loaded->bytes, .mode = loaded->status.mode & 0777U};
    loaded_.insert_or_assign(path, *std::move(loaded));
    return std::optional(std::move(content));
  }

  Result<std::vector<FileChange>> changes_of(PatchPlan& plan) {
    std::vector<FileChange> changes;
    for (PathChange& planned : plan.changes) {
      FileChange change;
      change.path = absolute(planned.path);
      change.about = fmt::format("patch line {}", planned.patch_line);
      const std::string& source = planned.from.value_or(planned.path);
      if (planned.before) {
        BAWN_TRY(check_only_name(source, planned.patch_line));
        LoadedFile& old = loaded_.at(source);
        change.before = LoadedFile{
            .bytes = std::move(old.bytes), .status = old.status, .attributes = old.attributes};
      }
      if (planned.from) {
        change.from = absolute(source);
      }
      if (planned.after) {
        const bool same_mode = planned.before && planned.before->mode == planned.after->mode;
        change.after = std::move(planned.after->bytes);
        // A patch knows two modes, 644 and 755; for a new plain file the umask has its say.
        const std::uint32_t mode = planned.after->mode;
        if (!same_mode && (planned.before || mode != 0644U)) {
          const std::uint32_t base = planned.before ? planned.before->mode : mode;
          change.mode = (mode == 0755U || mode == 0644U) && planned.before
                            ? (mode == 0755U ? base | ((base & 0444U) >> 2U) : base & ~0111U)
                            : mode;
        }
        change.make_parents = true;
      }
      if (!change.after || change.from) {
        change.drop_parents = levels_below_directory(source);
      }
      changes.push_back(std::move(change));
    }
    tell_successors(plan, changes);
    // New content first: a removal is the hardest to take back.
    std::stable_partition(changes.begin(), changes.end(),
                          [](const FileChange& change) { return change.after.has_value(); });
    return changes;
  }

  /// Two names of one file (links on the way, hard links) would each get the other's change lost.
  Result<> check_only_name(const std::string& path, std::size_t patch_line) {
    const sandbox::FileStatus& status = loaded_.at(path).status;
    const auto [known, is_new] = names_.try_emplace({status.device, status.inode}, path);
    if (!is_new && known->second != path) {
      return contract::fail(
          ErrorCode::InvalidArgument,
          fmt::format("patch line {}: {} and {} are one file; patch it under one name", patch_line,
                      known->second, path));
    }
    return {};
  }

  /// A file that takes over from one that goes is to keep what can be kept of it.
  void tell_successors(const PatchPlan& plan, std::vector<FileChange>& changes) const {
    std::map<std::string, const std::string*> sources;
    for (const PatchedFile& file : plan.files) {
      if (file.kind == FilePatch::Kind::Rename && loaded_.contains(file.from)) {
        sources.insert_or_assign(absolute(file.path), &file.from);
      }
    }
    for (FileChange& change : changes) {
      const auto source = sources.find(change.path);
      if (source != sources.end() && !change.from && !change.before && change.after) {
        const LoadedFile& old = loaded_.at(*source->second);
        change.like = LoadedFile{.bytes = {}, .status = old.status, .attributes = old.attributes};
      }
    }
  }

  void describe_places(const PatchPlan& plan, PatchEntry& entry) const {
    for (const PatchedFile& file : plan.files) {
      for (const HunkPlace& place : file.places) {
        entry.hunks.push_back({.path = file.path,
                               .patch_line = place.patch_line,
                               .line = place.line,
                               .offset = place.offset,
                               .fuzz = place.fuzz});
      }
    }
  }

  void name_kinds(const PatchPlan& plan, ChangeEntry& changes) const {
    std::map<std::string, const PatchedFile*> moved;
    for (const PatchedFile& file : plan.files) {
      if (!file.from.empty()) {
        moved.emplace(absolute(file.path), &file);
      }
    }
    for (ChangedEntry& entry : changes.files) {
      entry.change = entry.change == "replaced" ? "edited" : entry.change;
      if (const auto found = moved.find(entry.path); found != moved.end() && !entry.from) {
        entry.change = found->second->kind == FilePatch::Kind::Copy ? "copied" : "renamed";
        entry.from = absolute(found->second->from);
      }
    }
  }

  const ToolSupport& support_;
  const contract::Context& context_;
  const Place& place_;
  const PatchArgs& args_;
  std::string directory_;
  std::vector<std::string> leaving_;  ///< that the patch removes or renames
  std::map<std::string, LoadedFile> loaded_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_;  ///< by device and inode
};

std::string patch_text(const Place& place, const PatchEntry& entry) {
  std::string text = entry.applied ? "" : "[check only: nothing was changed]\n";
  text += to_text(place, entry.changes);
  for (const PlaceEntry& hunk : entry.hunks) {
    if (hunk.offset != 0 || hunk.fuzz != 0) {
      text += fmt::format("[{}: the hunk at patch line {} went to line {} (offset {}, fuzz {})]\n",
                          hunk.path, hunk.patch_line, hunk.line, hunk.offset, hunk.fuzz);
    }
  }
  return text;
}

/// The paths of a call's patch, for its resources.
std::vector<std::string> paths_of(const ToolSupport& support, const contract::Context& context,
                                  std::string_view args) {
  std::vector<std::string> names;
  const auto patch = parse_patch(text_argument(args, "patch").value_or(""));
  if (!patch) {
    return names;
  }
  const std::string directory = text_argument(args, "directory").value_or(".");
  const auto session = text_argument(args, "session");
  for (const FilePatch& file : patch->files) {
    for (const std::string& path : {file.old_path, file.new_path}) {
      names.push_back(support.resource_of(context, session,
                                          path.starts_with('/') ? path : directory + "/" + path));
    }
  }
  return names;
}

}  // namespace

Result<contract::ToolPtr> make_patch_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "Apply a patch",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = false,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<PatchEntry>());
  options.cli = contract::CliInfo{.group = "files", .operation = "patch", .positional = {"patch"}};
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return paths_of(*support, context, args);
  };
  return contract::make_tool<PatchArgs>(
      "apply_patch", kDescription,
      [support](const contract::Context& context, const PatchArgs& args) -> contract::Outcome {
        const auto place = support->place(context, args.session);
        if (!place) {
          return place.error();
        }
        const auto entry = PatchCall(*support, context, *place, args).run();
        if (!entry) {
          return ToolSupport::failure(*place, entry.error());
        }
        return support->outcome(*place, patch_text(*place, *entry), *entry);
      },
      std::move(options));
}

}  // namespace bawn::files
