#include "etag.hpp"
#include "paths.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace bawn::files {

namespace {

using contract::field;

struct UndoArgs {
  std::string call;
  bool force = false;
  std::optional<std::string> session;

  static constexpr auto describe() {
    return contract::fields(
        field("call", &UndoArgs::call).desc("Id of the change, such as change-3, from its result"),
        field("force", &UndoArgs::force)
            .desc(
                "Also when a file has changed since, is another one, is gone or there again, or is "
                "reached by another way; what it holds now is lost. A link, directory or device "
                "in its place, and a file under the old name of a rename, are never overruled")
            .with_default(),
        field("session", &UndoArgs::session).desc(kSessionHelp));
  }
};

constexpr const char* kDescription =
    "Take back what one call of write_file, edit_file, apply_patch or undo_change did: content, "
    "mode, name and modification time of its files are as before, files and directories that it "
    "made are removed. Refused when one of them has changed or is another file since, unless "
    "forced; a mode that was changed since stays. Old contents are kept while the server runs, the "
    "oldest are dropped first.";

constexpr std::uint32_t kBits = 0777;

/// Makes the changes that take a change back.
class Reversal {
 public:
  Reversal(const ToolSupport& support, const contract::Context& context, const Place& place,
           const UndoChange& kept, bool force)
      : support_(support), context_(context), place_(place), force_(force) {
    for (const UndoFile& file : kept.files) {
      if (file.after) {
        made_.push_back(file.target);
      }
    }
  }

  Result<FileChange> of(UndoFile file) {
    FileChange change;
    change.path = file.from.value_or(file.target);
    // A rename and a change of the mode alone name the file as it was asked for, links included.
    const bool resolved = !file.from && (!file.before || !file.after ||
                                         etag_of(file.before->bytes) != file.after->etag);
    if (resolved) {
      BAWN_TRY(check_way(file.target));
    }
    change.before = BAWN_TRY(now_at(file.target));
    if (!force_) {
      BAWN_TRY(check(file, change.before));
    }
    change.drop_parents = !file.before || file.from ? file.parents_made : 0;
    if (!file.before) {
      return change;
    }
    change.mtime_ns = file.before->status.mtime_ns;
    change.make_parents = true;
    const bool there = change.before.has_value();
    const std::uint32_t old_mode = file.before->status.mode & kBits;
    const bool mode_stays = there && file.after && !force_ &&
                            ((change.before->status.mode ^ file.after->status.mode) & kBits) != 0;
    if (mode_stays) {
      notes_.push_back(fmt::format("{}: its mode was changed since and stays {}",
                                   shown_path(place_, file.path),
                                   octal(change.before->status.mode & kBits)));
    } else {
      change.mode = old_mode;
    }
    if (file.from && there) {
      change.from = file.target;
    }
    change.after = file.before->bytes;
    if (!there) {
      change.like = std::move(file.before);
    }
    return change;
  }

  [[nodiscard]] std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  /// The file itself: what a link leads to that was put there since is another one. A path that the
  /// change made a directory of, or whose directory it made a file, has none.
  Result<std::optional<LoadedFile>> now_at(const std::string& path) const {
    const auto status = place_.files->status(context_, path, sandbox::FileAgent::Links::Keep);
    if (std::ranges::any_of(made_, [&](const std::string& made) {
          return lies_below(path, made) ||
                 (lies_below(made, path) && status && status->type == sandbox::FileType::Directory);
        })) {
      return std::optional<LoadedFile>();
    }
    if (status && status->type == sandbox::FileType::Symlink) {
      return contract::fail(
          ErrorCode::Busy,
          fmt::format("{} is a symbolic link now and was none; remove it before undoing",
                      shown_path(place_, path)));
    }
    return load_if_there(context_, place_, path, support_.options().max_text_file);
  }

  /// A changed file's path had no links in it: one that is there now leads to somebody else's file.
  Result<> check_way(const std::string& path) {
    for (auto at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      const std::string directory = path.substr(0, at);
      if (!looked_at_.insert(directory).second) {
        continue;
      }
      const auto status =
          place_.files->status(context_, directory, sandbox::FileAgent::Links::Keep);
      if (status && status->type == sandbox::FileType::Symlink) {
        return contract::fail(
            ErrorCode::Busy,
            fmt::format("{} is a symbolic link now and was a directory; remove it before undoing",
                        shown_path(place_, directory)));
      }
    }
    return {};
  }

  Result<> check(const UndoFile& file, const std::optional<LoadedFile>& now) const {
    const auto refuse = [&](std::string_view what) {
      return contract::fail(ErrorCode::Busy,
                            fmt::format("{} {}; look at it first, or undo with force and lose that",
                                        shown_path(place_, file.path), what));
    };
    if (!file.after) {
      return now ? refuse("is there again") : Result<>();
    }
    if (!now) {
      return refuse("has changed since and is gone");
    }
    if (etag_of(now->bytes) != file.after->etag) {
      return refuse("has changed since");
    }
    const sandbox::FileStatus& left = file.after->status;
    if (now->status.device != left.device || now->status.inode != left.inode) {
      return refuse("is another file now, with the same content");
    }
    const auto led = place_.files->status(context_, file.path, sandbox::FileAgent::Links::Follow);
    if (!led || led->device != left.device || led->inode != left.inode) {
      return contract::fail(
          ErrorCode::Busy,
          fmt::format("{} leads elsewhere now than to {}, which was changed; undo with force gives "
                      "that file back and leaves the other one alone",
                      shown_path(place_, file.path), shown_path(place_, file.target)));
    }
    return {};
  }

  const ToolSupport& support_;
  const contract::Context& context_;
  const Place& place_;
  bool force_;
  std::set<std::string> looked_at_;  ///< directories that are no links
  std::vector<std::string> made_;    ///< files that are there since
  std::vector<std::string> notes_;
};

contract::Outcome undo_change(const ToolSupport& support, const contract::Context& context,
                              const UndoArgs& args) {
  const auto place = support.place(context, args.session);
  if (!place) {
    return place.error();
  }
  const auto made = [&]() -> Result<ChangeEntry> {
    UndoChange kept = BAWN_TRY(support.undo().find(place->key, args.call));
    std::vector<std::string> names;
    for (const UndoFile& file : kept.files) {
      names.push_back(normal_path(file.path));
      names.push_back(normal_path(file.from.value_or(file.target)));
    }
    const auto held = BAWN_TRY(support.locks().hold(context, names));
    std::vector<FileChange> changes;
    Reversal reversal(support, context, *place, kept, args.force);
    // Newest first: of a rename the old name comes back before the new one goes.
    for (auto file = kept.files.rbegin(); file != kept.files.rend(); ++file) {
      changes.push_back(BAWN_TRY(reversal.of(std::move(*file))));
    }
    auto entry = BAWN_TRY(support.change(context, *place, "undo_change", std::move(changes), {},
                                         std::move(kept.directories)));
    for (std::string& note : reversal.take_notes()) {
      entry.notes.push_back(std::move(note));
    }
    support.undo().undone(place->key, args.call, entry.call);
    return entry;
  }();
  if (!made) {
    return ToolSupport::failure(*place, made.error());
  }
  return support.outcome(*place, to_text(*place, *made), *made);
}

}  // namespace

Result<contract::ToolPtr> make_undo_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "Undo a change",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = false,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<ChangeEntry>());
  options.resources = [support](const contract::Context&, std::string_view args) {
    return support->resources_of_change(args);
  };
  return contract::make_tool<UndoArgs>(
      "undo_change", kDescription,
      [support](const contract::Context& context, const UndoArgs& args) {
        return undo_change(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::files
