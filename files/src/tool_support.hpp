/// \file
/// What the file tools share: whose session a call means, how a change is made and kept for undo,
/// and how a result is put together.
#pragma once

#include "bawn/contract/make_tool.hpp"
#include "bawn/files/place.hpp"
#include "bawn/files/tools.hpp"
#include "changes.hpp"
#include "file_locks.hpp"
#include "undo_store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

inline constexpr const char* kPathHelp =
    "Path; a relative one starts at the session's workspace, not at the shell's directory";
inline constexpr const char* kSessionHelp = "Name of the session. Left out: the default one";

/// One changed path in a result.
struct ChangedEntry {
  std::string path;
  std::string change;
  std::optional<std::string> from;
  std::optional<std::string> etag;
  std::optional<std::uint64_t> size;
  std::optional<std::string> mode;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
  std::string diff;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("path", &ChangedEntry::path).desc("Absolute path of the content"),
        field("change", &ChangedEntry::change)
            .one_of("created,replaced,edited,removed,renamed,copied,unchanged")
            .desc("What became of it"),
        field("from", &ChangedEntry::from).desc("Path that it had before"),
        field("etag", &ChangedEntry::etag).desc("Hash of the new content"),
        field("size", &ChangedEntry::size).desc("Its bytes"),
        field("mode", &ChangedEntry::mode).desc("Permission bits, octal"),
        field("lines_added", &ChangedEntry::lines_added).desc("Lines that are new"),
        field("lines_removed", &ChangedEntry::lines_removed).desc("Lines that are gone"),
        field("diff", &ChangedEntry::diff).desc("Unified diff; hunks beyond 32 KiB are left out"));
  }
};

/// What a changing call gives back.
struct ChangeEntry {
  std::string call;
  bool undoable = false;
  std::vector<ChangedEntry> files;
  std::vector<std::string> notes;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("call", &ChangeEntry::call).desc("Id of this change, for undo_change; may be empty"),
        field("undoable", &ChangeEntry::undoable).desc("The old content is kept for undo_change"),
        field("files", &ChangeEntry::files).desc("Each path that changed"),
        field("notes", &ChangeEntry::notes).desc("What else must be known"));
  }
};

/// Threads: thread-safe.
class ToolSupport {
 public:
  ToolSupport(std::shared_ptr<Places> places, ToolOptions options, std::shared_ptr<UndoStore> undo);

  [[nodiscard]] const ToolOptions& options() const noexcept { return options_; }
  [[nodiscard]] UndoStore& undo() const noexcept { return *undo_; }
  [[nodiscard]] FileLocks& locks() const noexcept { return locks_; }
  [[nodiscard]] Result<Place> place(const contract::Context& context,
                                    const std::optional<std::string>& name) const {
    return places_->place(context, name);
  }

  /// Options that every file tool has: title, hints, the `confined` property.
  [[nodiscard]] contract::ToolOptions tool_options(const contract::Annotations& annotations) const;
  /// "file:<path>" of the path argument, so that calls about one file keep their order.
  [[nodiscard]] std::vector<std::string> resources(const contract::Context& context,
                                                   std::string_view args) const;
  /// The same of a call that looks at what is at a path and below it, and changes nothing: it waits
  /// for changes there and not for other looks.
  [[nodiscard]] std::vector<std::string> views(const contract::Context& context,
                                               std::string_view args) const;
  /// The absolute path, by text, of a path argument of a call.
  [[nodiscard]] std::string resource_of(const contract::Context& context,
                                        const std::optional<std::string>& session,
                                        std::string_view path) const;

  /// The same of the files that the change of a `call` argument was about.
  [[nodiscard]] std::vector<std::string> resources_of_change(std::string_view args) const;

  /// Makes the changes, keeps what undo needs, and describes them. `unseen` says why the old bytes
  /// were not read: then there is no undo. A change to what is there already is none. `bring_back`
  /// as of commit_changes().
  [[nodiscard]] Result<ChangeEntry> change(const contract::Context& context, const Place& place,
                                           const std::string& tool, std::vector<FileChange> changes,
                                           const std::string& unseen = {},
                                           std::vector<GoneDirectory> bring_back = {}) const;

  /// What change() would do, or why it would be refused; changes nothing.
  [[nodiscard]] Result<ChangeEntry> forecast(const contract::Context& context, const Place& place,
                                             std::vector<FileChange> changes) const;

  /// Text and structure with the session's report.
  template <class Entry>
  [[nodiscard]] contract::Outcome outcome(const Place& place, std::string text,
                                          const Entry& entry) const {
    contract::ToolResult result = contract::text_result(std::move(text));
    auto structured = contract::encode(entry);
    if (!structured) {
      return structured.error();
    }
    result.structured = *std::move(structured);
    result.confinement = place.confinement;
    return result;
  }

  /// An error that still says how the call was confined.
  [[nodiscard]] static contract::Outcome failure(const Place& place, const Error& error);

 private:
  std::shared_ptr<Places> places_;
  ToolOptions options_;
  std::shared_ptr<UndoStore> undo_;
  mutable FileLocks locks_;
};

using SupportPtr = std::shared_ptr<const ToolSupport>;

/// "0644".
[[nodiscard]] std::string octal(std::uint32_t mode);
/// A changing call's result for a reader of text.
[[nodiscard]] std::string to_text(const Place& place, const ChangeEntry& entry);
/// Refuses a file that is not the one of `if_etag`. Errors: Busy, naming the etag it has.
[[nodiscard]] Result<> check_etag(const std::optional<std::string>& wanted, std::string_view bytes);

[[nodiscard]] Result<contract::ToolPtr> make_read_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_write_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_edit_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_patch_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_undo_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_list_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_search_tool(const SupportPtr& support);

}  // namespace bawn::files
