#include "denial.hpp"
#include "paths.hpp"
#include "text_encoding.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace bawn::files {

namespace {

using contract::field;

struct WriteArgs {
  std::string path;
  std::string content;
  std::optional<std::string> session;
  bool if_absent = false;
  std::optional<std::string> if_etag;
  bool replace_unread = false;
  bool make_parents = false;
  std::optional<std::string> mode;
  std::string line_ending = "as_given";
  std::string encoding = "utf-8";

  static constexpr auto describe() {
    return contract::fields(
        field("path", &WriteArgs::path).desc(kPathHelp),
        field("content", &WriteArgs::content).desc("The whole new text"),
        field("session", &WriteArgs::session).desc(kSessionHelp),
        field("if_absent", &WriteArgs::if_absent)
            .desc("Only make a new file; refuse when there is one")
            .with_default(),
        field("if_etag", &WriteArgs::if_etag)
            .desc("Only replace the file whose etag read_file told"),
        field("replace_unread", &WriteArgs::replace_unread)
            .desc("Also replace a file that may be written but not read; that cannot be undone")
            .with_default(),
        field("make_parents", &WriteArgs::make_parents)
            .desc("Make missing directories on the way")
            .with_default(),
        field("mode", &WriteArgs::mode)
            .desc("Permission bits in octal, such as 755. Left out: those of the old file"),
        field("line_ending", &WriteArgs::line_ending)
            .one_of("as_given,keep,lf,crlf")
            .desc("as_given: those of content; keep: as the old file has them")
            .with_default(),
        field("encoding", &WriteArgs::encoding)
            .one_of("utf-8,utf-8-bom,utf-16le,utf-16be,latin-1,keep")
            .desc("utf-8 has no byte order mark; keep: as the old file has it")
            .with_default());
  }
};

constexpr const char* kDescription =
    "Write a whole file: make it or replace it in one step, so that a reader sees the old content "
    "or the new one and never a mixture. Mode, owner where allowed and attributes of a replaced "
    "file are kept; a link is written through. Its encoding and line ends are not: the file "
    "becomes "
    "UTF-8 without a byte order mark with the line ends of content, and a note says when it was "
    "something else (encoding and line_ending \"keep\" keep them). if_absent and if_etag guard "
    "against overwriting what you have not seen. Changes within a file are better made with "
    "edit_file. undo_change takes it back.";

Result<std::optional<std::uint32_t>> mode_of(const std::optional<std::string>& text) {
  if (!text) {
    return std::optional<std::uint32_t>();
  }
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), mode, 8);
  if (error != std::errc() || end != text->data() + text->size() || mode > 0777U) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "mode: expected permission bits in octal, such as 644 or 755");
  }
  return std::optional(mode);
}

Encoding encoding_of(std::string_view name) {
  for (const Encoding encoding :
       {Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Latin1}) {
    if (name == to_string(encoding)) {
      return encoding;
    }
  }
  return Encoding::Utf8;
}

/// The bytes to write, in the style that was asked for. The content is moved out of `args`.
Result<std::string> styled(WriteArgs& args, const std::optional<LoadedFile>& before) {
  std::optional<DecodedText> old;
  if (before && (args.line_ending == "keep" || args.encoding == "keep")) {
    old = decode_text(before->bytes);
  }
  std::string text = std::move(args.content);
  const LineEnding ending = args.line_ending == "crlf"          ? LineEnding::CrLf
                            : args.line_ending == "lf"          ? LineEnding::Lf
                            : args.line_ending == "keep" && old ? old->style.ending
                                                                : LineEnding::None;
  if (ending == LineEnding::CrLf || ending == LineEnding::Lf) {
    text = with_line_ending(text, ending);
  }
  const Encoding encoding = args.encoding != "keep" ? encoding_of(args.encoding)
                            : old                   ? old->style.encoding
                                                    : Encoding::Utf8;
  return encode_text(std::move(text), encoding);
}

struct Present {
  std::optional<LoadedFile> file;
  std::string unseen;  ///< why its bytes were not read
};

/// What is there now. A file too large to be kept is replaced without its old content, and so is
/// one that may be written but not read, when that was asked for.
Result<Present> present(const ToolSupport& support, const contract::Context& context,
                        const Place& place, const std::string& path, const WriteArgs& args) {
  auto loaded = load_if_there(context, place, path, support.options().max_text_file);
  if (loaded) {
    return Present{.file = *std::move(loaded), .unseen = {}};
  }
  const bool must_read = args.if_etag || args.line_ending == "keep" || args.encoding == "keep";
  const bool large = loaded.error().is(ErrorCode::ResourceExhausted);
  const bool closed = loaded.error().is(ErrorCode::PermissionDenied);
  const auto status = place.files->status(context, path, sandbox::FileAgent::Links::Follow);
  if (must_read || (!large && !closed) || !status || status->type != sandbox::FileType::Regular) {
    return std::unexpected(loaded.error());
  }
  if (closed && !args.replace_unread && !args.if_absent) {
    return contract::fail(ErrorCode::PermissionDenied,
                          fmt::format("{} is there but cannot be read, so what it holds would be "
                                      "lost unseen; replace_unread allows that",
                                      args.path));
  }
  return Present{.file = LoadedFile{.bytes = {}, .status = *status},
                 .unseen = large ? fmt::format("of {} bytes is too large to keep", status->size)
                                 : std::string("could not be read")};
}

/// What can be done about a directory that is missing.
Error with_advice(const WriteArgs& args, const Error& error) {
  if (error.code() != ErrorCode::NotFound || args.if_etag) {
    return error;
  }
  const bool leaves = ("/" + args.path).find("/../") != std::string::npos;
  if (!args.make_parents || leaves) {
    return Error(ErrorCode::NotFound,
                 error.message() +
                     (args.make_parents
                          ? "; a directory that is missing cannot be left by \"..\", so "
                            "make_parents makes none here: write the path without it"
                          : "; make_parents makes missing directories on the way"))
        .with_cause(error);
  }
  return error;
}

contract::Outcome write_file(const ToolSupport& support, const contract::Context& context,
                             WriteArgs args) {
  const auto place = support.place(context, args.session);
  if (!place) {
    return place.error();
  }
  const auto made = [&]() -> Result<ChangeEntry> {
    const std::string path = BAWN_TRY(file_path(*place, args.path));
    const auto mode = BAWN_TRY(mode_of(args.mode));
    const auto held = BAWN_TRY(support.locks().hold(context, {normal_path(path)}));
    auto now = BAWN_TRY(present(support, context, *place, path, args));
    if (args.if_absent && now.file) {
      return contract::fail(ErrorCode::AlreadyExists, args.path + " exists already");
    }
    if (args.if_etag && !now.file) {
      return contract::fail(ErrorCode::NotFound, args.path + " is not there any more");
    }
    if (now.file && now.unseen.empty()) {
      BAWN_TRY(check_etag(args.if_etag, now.file->bytes));
    }
    FileChange change;
    change.path = path;
    change.after = BAWN_TRY(styled(args, now.file));
    change.before = std::move(now.file);
    change.mode = mode;
    change.make_parents = args.make_parents;
    std::vector<FileChange> changes;
    changes.push_back(std::move(change));
    return support.change(context, *place, "write_file", std::move(changes), now.unseen);
  }();
  if (!made) {
    return ToolSupport::failure(*place, with_advice(args, made.error()));
  }
  return support.outcome(*place, to_text(*place, *made), *made);
}

}  // namespace

Result<contract::ToolPtr> make_write_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "Write a file",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = true,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<ChangeEntry>());
  options.cli =
      contract::CliInfo{.group = "files", .operation = "write", .positional = {"path", "content"}};
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return support->resources(context, args);
  };
  // The whole content is in the arguments: writing it twice leaves what writing it once does.
  options.replay = [](const contract::Context&, std::string_view) {
    return contract::Replay::Safe;
  };
  return contract::make_tool<WriteArgs>(
      "write_file", kDescription,
      [support](const contract::Context& context, WriteArgs args) {
        return write_file(*support, context, std::move(args));
      },
      std::move(options));
}

}  // namespace bawn::files
