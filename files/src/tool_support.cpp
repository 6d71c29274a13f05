#include "tool_support.hpp"

#include "diff.hpp"
#include "etag.hpp"
#include "paths.hpp"
#include "raw_arguments.hpp"
#include "text_encoding.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::files {

namespace {

/// As they stand, the bytes cannot be shown: UTF-16, or mostly no UTF-8.
bool is_encoded(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    return true;
  }
  const Utf8Survey survey = survey_utf8(bytes);
  return survey.invalid_bytes > survey.multibyte;
}

/// The diff of two contents, when both are text.
UnifiedDiff diff_of(const std::string& old_path, const std::string& new_path,
                    const std::optional<LoadedFile>& before,
                    const std::optional<std::string>& after) {
  constexpr std::size_t kMaxCompared = std::size_t{16} * 1024 * 1024;
  const std::string_view old_bytes = before ? std::string_view(before->bytes) : std::string_view();
  const std::string_view new_bytes = after ? std::string_view(*after) : std::string_view();
  if (looks_binary(old_bytes) || looks_binary(new_bytes) ||
      old_bytes.size() + new_bytes.size() > 2 * kMaxCompared) {
    return {};
  }
  const std::string old_name = before ? "a/" + old_path : "/dev/null";
  const std::string new_name = after ? "b/" + new_path : "/dev/null";
  if (is_encoded(old_bytes) || is_encoded(new_bytes)) {
    const auto old_text = decode_text(std::string(old_bytes));
    const auto new_text = decode_text(std::string(new_bytes));
    return old_text && new_text ? unified_diff(old_name, new_name, old_text->text, new_text->text)
                                : UnifiedDiff{};
  }
  return unified_diff(old_name, new_name, old_bytes, new_bytes);
}

/// What can be told of a change before it is made.
struct Compared {
  std::optional<std::string> etag;  ///< of the new content
  UnifiedDiff diff;
  std::string style;  ///< how encoding or line ends changed
};

Compared compare(const Place& place, const FileChange& change, bool whole) {
  Compared compared;
  if (change.after) {
    compared.etag = etag_of(*change.after);
  }
  if (whole) {
    compared.diff = diff_of(shown_path(place, change.from.value_or(change.path)),
                            shown_path(place, change.path), change.before, change.after);
    if (change.before && change.after) {
      compared.style = style_change(change.before->bytes, *change.after);
    }
  }
  return compared;
}

ChangedEntry describe_change(const FileChange& change, const FileChanged& changed,
                             Compared compared) {
  ChangedEntry entry;
  entry.path = changed.target;
  entry.from = change.from;
  entry.change = !change.after   ? "removed"
                 : change.from   ? "renamed"
                 : change.before ? "replaced"
                                 : "created";
  if (change.after) {
    entry.etag = std::move(compared.etag);
    entry.size = change.after->size();
  }
  if (changed.status) {
    entry.mode = octal(changed.status->mode);
  }
  entry.lines_added = compared.diff.added;
  entry.lines_removed = compared.diff.removed;
  entry.diff = std::move(compared.diff.text);
  return entry;
}

/// What a file that is another one now has no longer.
void add_losses(std::vector<std::string>& notes, const std::string& path,
                const sandbox::FileStatus& old, const sandbox::FileStatus& now) {
  if ((old.mode & ~now.mode & 07000U) != 0) {
    notes.push_back(path + ": its setuid, setgid or sticky bit is gone");
  }
  if (old.device == now.device && old.inode == now.inode) {
    return;
  }
  if (old.links > 1) {
    notes.push_back(path + ": the file had other names (hard links), which keep the old content");
  }
}

void add_notes(std::vector<std::string>& notes, const std::string& path, const FileChange& change,
               const FileChanged& changed) {
  const bool other_owner = change.like && changed.status &&
                           (change.like->status.uid != changed.status->uid ||
                            change.like->status.gid != changed.status->gid);
  if (!changed.owner_kept || other_owner) {
    notes.push_back(path + ": the file was another user's or group's and is now the session's");
  }
  if (!changed.attributes_kept) {
    notes.push_back(path + ": extended attributes or an access list could not be kept");
  }
  if (!changed.durable) {
    notes.push_back(path + ": written, but the disk did not confirm it");
  }
  if (change.before && changed.status) {
    add_losses(notes, path, change.before->status, *changed.status);
  }
  if (change.like && changed.status) {
    add_losses(notes, path, change.like->status, *changed.status);
  }
}

UndoFile undo_of(FileChange& change, const FileChanged& changed, const ChangedEntry& entry) {
  UndoFile file{.path = std::move(change.path), .target = changed.target, .from = change.from};
  file.before = std::move(change.before);
  if (change.after && changed.status) {
    file.after = UndoFile::New{.etag = entry.etag.value_or(""), .status = *changed.status};
  }
  file.parents_made = changed.parents_made;
  return file;
}

/// Nothing would be different afterwards.
bool is_no_change(const FileChange& change, bool whole) {
  if (change.from) {
    return false;
  }
  if (!change.before || !change.after) {
    return !change.before && !change.after;
  }
  return whole && change.before->bytes == *change.after &&
         (!change.mode || *change.mode == (change.before->status.mode & 0777U));
}

/// Those that change something; the others are told as they are.
std::vector<FileChange> real_changes(std::vector<FileChange> changes, bool whole,
                                     ChangeEntry& entry) {
  std::vector<FileChange> real;
  for (FileChange& change : changes) {
    if (!is_no_change(change, whole)) {
      real.push_back(std::move(change));
      continue;
    }
    ChangedEntry same;
    same.path = change.path;
    same.change = "unchanged";
    if (change.after) {
      same.etag = etag_of(*change.after);
      same.size = change.after->size();
    }
    entry.files.push_back(std::move(same));
  }
  return real;
}

}  // namespace

ToolSupport::ToolSupport(std::shared_ptr<Places> places, ToolOptions options,
                         std::shared_ptr<UndoStore> undo)
    : places_(std::move(places)), options_(std::move(options)), undo_(std::move(undo)) {}

contract::ToolOptions ToolSupport::tool_options(const contract::Annotations& annotations) const {
  contract::ToolOptions options;
  options.annotations = annotations;
  options.additional_properties = false;
  options.confined = [places = places_](const contract::Context& context, std::string_view args) {
    return places->confinement(context, text_argument(args, "session"));
  };
  return options;
}

std::string ToolSupport::resource_of(const contract::Context& context,
                                     const std::optional<std::string>& session,
                                     std::string_view path) const {
  Place names;
  names.workspace = places_->workspace(context, session);
  names.home = "~";  // not known before the session runs; the same in every call that says "~/"
  const auto absolute = absolute_path(names, path);
  return absolute ? "file:" + normal_path(*absolute) : std::string();
}

std::vector<std::string> ToolSupport::resources(const contract::Context& context,
                                                std::string_view args) const {
  const auto path = text_argument(args, "path");
  if (!path) {
    return {};
  }
  return {resource_of(context, text_argument(args, "session"), *path)};
}

std::vector<std::string> ToolSupport::views(const contract::Context& context,
                                            std::string_view args) const {
  std::string name = resource_of(context, text_argument(args, "session"),
                                 text_argument(args, "path").value_or("."));
  if (name.empty()) {
    return {};
  }
  return {name.ends_with('/') ? name : name + "/"};
}

std::vector<std::string> ToolSupport::resources_of_change(std::string_view args) const {
  std::vector<std::string> names = undo_->paths_of(text_argument(args, "call").value_or(""));
  for (std::string& name : names) {
    name = "file:" + normal_path(name);
  }
  return names;
}

Result<ChangeEntry> ToolSupport::change(const contract::Context& context, const Place& place,
                                        const std::string& tool, std::vector<FileChange> changes,
                                        const std::string& unseen,
                                        std::vector<GoneDirectory> bring_back) const {
  const bool whole = unseen.empty();
  ChangeEntry entry;
  std::vector<FileChange> real = real_changes(std::move(changes), whole, entry);
  std::vector<Compared> compared;
  std::optional<UndoStore::Stored> stored;
  auto committed = BAWN_TRY(commit_changes(context, place, real, std::move(bring_back), [&] {
    std::vector<std::string_view> contents;
    for (const FileChange& change : real) {
      compared.push_back(compare(place, change, whole));
      contents.push_back(change.before ? std::string_view(change.before->bytes)
                                       : std::string_view());
    }
    if (whole && !real.empty()) {
      stored = undo_->store(contents);
    }
  }));
  UndoChange undo{.call = {},
                  .session = place.key,
                  .tool = tool,
                  .files = {},
                  .directories = std::move(committed.directories_gone)};
  for (std::size_t i = 0; i < real.size(); ++i) {
    if (tool == "write_file" && !compared[i].style.empty()) {
      entry.notes.push_back(fmt::format("{}: {}; encoding and line_ending \"keep\" keep them",
                                        shown_path(place, real[i].path), compared[i].style));
    }
    const FileChanged& changed = committed.files[i];
    entry.files.push_back(describe_change(real[i], changed, std::move(compared[i])));
    add_notes(entry.notes, shown_path(place, real[i].path), real[i], changed);
    undo.files.push_back(undo_of(real[i], changed, entry.files.back()));
  }
  for (const std::string& path : committed.directories_unlike) {
    entry.notes.push_back(shown_path(place, path) +
                          ": the directory is a new one and could not get the old one's owner, "
                          "group or special bits");
  }
  if (stored) {
    entry.call = undo_->keep(*std::move(stored), std::move(undo));
  }
  entry.undoable = !entry.call.empty();
  if (!real.empty() && !entry.undoable) {
    entry.notes.push_back(fmt::format(
        "This change cannot be undone: the old content {}.",
        whole ? "is more than is kept, or there was no room for it on the disk" : unseen));
  }
  return entry;
}

Result<ChangeEntry> ToolSupport::forecast(const contract::Context& context, const Place& place,
                                          std::vector<FileChange> changes) const {
  ChangeEntry entry;
  const std::vector<FileChange> real = real_changes(std::move(changes), true, entry);
  BAWN_TRY(try_changes(context, place, real));
  for (const FileChange& change : real) {
    FileChanged changed;
    changed.target = change.path;
    entry.files.push_back(describe_change(change, changed, compare(place, change, true)));
  }
  return entry;
}

contract::Outcome ToolSupport::failure(const Place& place, const Error& error) {
  contract::ToolResult result;
  result.confinement = place.confinement;
  const bool argument = error.code() == ErrorCode::InvalidArgument &&
                        !error.message().starts_with("invalid arguments:");
  return {std::move(result), argument ? error.wrap("invalid arguments") : error};
}

std::string octal(std::uint32_t mode) {
  return fmt::format("{:04o}", mode & 07777U);
}

std::string to_text(const Place& place, const ChangeEntry& entry) {
  std::string text;
  for (const ChangedEntry& file : entry.files) {
    text += fmt::format("{} {}", file.change, shown_path(place, file.path));
    if (file.from) {
      text += fmt::format(" (from {})", shown_path(place, *file.from));
    }
    if (file.lines_added != 0 || file.lines_removed != 0) {
      text += fmt::format(" (+{} -{} lines)", file.lines_added, file.lines_removed);
    }
    text += file.etag ? fmt::format(" [etag {}]\n", *file.etag) : std::string("\n");
  }
  if (!entry.call.empty()) {
    text += fmt::format("[{}: undo_change takes it back]\n", entry.call);
  }
  for (const std::string& note : entry.notes) {
    text += fmt::format("[{}]\n", note);
  }
  for (const ChangedEntry& file : entry.files) {
    // A whole new file was just written by the caller and need not be read again.
    if (file.change != "created") {
      text += file.diff;
    }
  }
  return text;
}

Result<> check_etag(const std::optional<std::string>& wanted, std::string_view bytes) {
  if (!wanted) {
    return {};
  }
  const std::string now = etag_of(bytes);
  if (now != *wanted) {
    return contract::fail(ErrorCode::Busy,
                          fmt::format("the file has changed since that etag: it is {} now; read it "
                                      "again before changing it",
                                      now));
  }
  return {};
}

}  // namespace bawn::files
