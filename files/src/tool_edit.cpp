#include "edits.hpp"
#include "paths.hpp"
#include "text_encoding.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

namespace bawn::files {

namespace {

using contract::field;

struct EditArg {
  std::string old_string;
  std::string new_string;
  bool replace_all = false;

  static constexpr auto describe() {
    return contract::fields(
        field("old_string", &EditArg::old_string).desc("Text to replace, exactly as in the file"),
        field("new_string", &EditArg::new_string).desc("What stands there afterwards"),
        field("replace_all", &EditArg::replace_all)
            .desc("Replace every place and not only one")
            .with_default());
  }
};

struct EditArgs {
  std::string path;
  std::optional<std::string> old_string;
  std::optional<std::string> new_string;
  bool replace_all = false;
  std::vector<EditArg> edits;
  std::optional<std::string> if_etag;
  std::optional<std::string> session;

  static constexpr auto describe() {
    return contract::fields(
        field("path", &EditArgs::path).desc(kPathHelp),
        field("old_string", &EditArgs::old_string)
            .desc("Text to replace, exactly as in the file and without line numbers; it must be "
                  "there once"),
        field("new_string", &EditArgs::new_string).desc("What stands there afterwards"),
        field("replace_all", &EditArgs::replace_all)
            .desc("Replace every place and not only one")
            .with_default(),
        field("edits", &EditArgs::edits)
            .desc(
                "Several replacements in place of old_string and new_string: one after the other, "
                "all or none")
            .optional(),
        field("if_etag", &EditArgs::if_etag).desc("Only when the file still has this etag"),
        field("session", &EditArgs::session).desc(kSessionHelp));
  }
};

constexpr const char* kDescription =
    "Replace text in a file. old_string must be in the file exactly and once (or replace_all); "
    "when "
    "it is not, the nearest place is shown with what differs. Several edits in one call are made "
    "all or not at all. Encoding, CRLF line ends, mode and a missing final newline are kept. The "
    "result is a unified diff; undo_change takes it back.";

Result<std::vector<Edit>> edits_of(const EditArgs& args) {
  std::vector<Edit> edits;
  for (const EditArg& edit : args.edits) {
    edits.push_back({edit.old_string, edit.new_string, edit.replace_all});
  }
  const bool single = args.old_string || args.new_string;
  if (single && !edits.empty()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "give either old_string and new_string, or edits");
  }
  if (single) {
    if (!args.old_string || !args.new_string) {
      return contract::fail(ErrorCode::InvalidArgument,
                            "old_string and new_string are needed both");
    }
    edits.push_back({*args.old_string, *args.new_string, args.replace_all});
  }
  if (edits.empty()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "nothing to do: give old_string and new_string, or edits");
  }
  return edits;
}

/// The file's new bytes.
Result<std::string> edited(const std::string& path, const std::string& bytes,
                           const std::vector<Edit>& edits) {
  auto decoded = decode_text(bytes);
  if (!decoded) {
    return contract::fail(ErrorCode::InvalidArgument,
                          path + " is no text file; a command must change it");
  }
  const TextStyle style = decoded->style;
  auto result = apply_edits(std::move(decoded->text), edits, style.ending == LineEnding::CrLf);
  if (!result) {
    return std::unexpected(result.error().wrap(path));
  }
  auto encoded = encode_text(std::move(result->text), style.encoding);
  if (!encoded) {
    return std::unexpected(encoded.error().wrap(path));
  }
  return encoded;
}

contract::Outcome edit_file(const ToolSupport& support, const contract::Context& context,
                            const EditArgs& args) {
  const auto place = support.place(context, args.session);
  if (!place) {
    return place.error();
  }
  auto made = [&]() -> Result<ChangeEntry> {
    const std::string path = BAWN_TRY(file_path(*place, args.path));
    const auto edits = BAWN_TRY(edits_of(args));
    const auto held = BAWN_TRY(support.locks().hold(context, {normal_path(path)}));
    FileChange change;
    change.path = path;
    change.before = BAWN_TRY(load_file(context, *place, path, support.options().max_text_file));
    BAWN_TRY(check_etag(args.if_etag, change.before->bytes));
    change.after = BAWN_TRY(edited(args.path, change.before->bytes, edits));
    std::vector<FileChange> changes;
    changes.push_back(std::move(change));
    return support.change(context, *place, "edit_file", std::move(changes));
  }();
  if (!made) {
    return ToolSupport::failure(*place, made.error());
  }
  for (ChangedEntry& file : made->files) {
    file.change = file.change == "replaced" ? "edited" : file.change;
  }
  return support.outcome(*place, to_text(*place, *made), *made);
}

}  // namespace

Result<contract::ToolPtr> make_edit_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "Edit a file",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = false,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<ChangeEntry>());
  options.cli = contract::CliInfo{
      .group = "files", .operation = "edit", .positional = {"path", "old_string", "new_string"}};
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return support->resources(context, args);
  };
  return contract::make_tool<EditArgs>(
      "edit_file", kDescription,
      [support](const contract::Context& context, const EditArgs& args) {
        return edit_file(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::files
