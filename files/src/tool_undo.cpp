#include "etag.hpp"
#include "paths.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

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
            .desc("Also when a file has changed since; those later changes are lost")
            .with_default(),
        field("session", &UndoArgs::session).desc(kSessionHelp));
  }
};

constexpr const char* kDescription =
    "Take back what one call of write_file, edit_file, apply_patch or undo_change did: content, "
    "mode "
    "and modification time of its files are as before, files that it made are removed. Refused "
    "when "
    "one of them has changed since, unless forced. Old contents are kept while the server runs, "
    "the "
    "oldest are dropped first; directories that were made stay.";

/// What it takes to have `file` as it was; checked against what it became.
Result<FileChange> reversal(const ToolSupport& support, const contract::Context& context,
                            const Place& place, UndoFile file, bool force) {
  FileChange change;
  change.path = std::move(file.path);
  change.before =
      BAWN_TRY(load_if_there(context, place, change.path, support.options().max_text_file));
  const bool there = change.before.has_value();
  const bool as_left = there == file.after_etag.has_value() &&
                       (!there || etag_of(change.before->bytes) == *file.after_etag);
  if (!as_left && !force) {
    return contract::fail(
        ErrorCode::Busy,
        fmt::format("{} has changed since{}; look at it first, or undo with force and lose that",
                    shown_path(place, change.path), there ? "" : " and is gone"));
  }
  if (file.before) {
    change.after = std::move(file.before->bytes);
    change.mode = file.before->mode;
    change.mtime_ns = file.before->mtime_ns;
    change.make_parents = true;
  }
  return change;
}

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
    }
    const auto held = support.locks().hold(names);
    std::vector<FileChange> changes;
    // Newest first: of a rename the old name comes back before the new one goes.
    for (auto file = kept.files.rbegin(); file != kept.files.rend(); ++file) {
      changes.push_back(BAWN_TRY(reversal(support, context, *place, std::move(*file), args.force)));
    }
    auto entry = BAWN_TRY(support.change(context, *place, "undo_change", std::move(changes)));
    support.undo().drop(place->key, args.call);
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
  return contract::make_tool<UndoArgs>(
      "undo_change", kDescription,
      [support](const contract::Context& context, const UndoArgs& args) {
        return undo_change(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::files
