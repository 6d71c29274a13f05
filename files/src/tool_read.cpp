#include "base64.hpp"
#include "denial.hpp"
#include "etag.hpp"
#include "image_size.hpp"
#include "line_window.hpp"
#include "media_type.hpp"
#include "paths.hpp"
#include "text_encoding.hpp"
#include "tool_support.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace bawn::files {

namespace {

using contract::field;

struct RangeArgs {
  int offset = 1;
  int limit = 2000;

  static constexpr auto describe() {
    return contract::fields(
        field("offset", &RangeArgs::offset).desc("First line, from 1").at_least(1),
        field("limit", &RangeArgs::limit).desc("Lines at most").with_default().range(1, 1'000'000));
  }
};

struct ReadArgs {
  std::string path;
  std::optional<std::string> session;
  int offset = 1;
  int limit = 2000;
  std::vector<RangeArgs> ranges;
  bool numbered = true;
  int max_line_bytes = 2000;
  int max_bytes = 100 * 1024;
  std::optional<std::uint64_t> byte_offset;
  std::optional<int> byte_count;

  static constexpr auto describe() {
    return contract::fields(
        field("path", &ReadArgs::path).desc(kPathHelp),
        field("session", &ReadArgs::session).desc(kSessionHelp),
        field("offset", &ReadArgs::offset).desc("First line, from 1").with_default().at_least(1),
        field("limit", &ReadArgs::limit).desc("Lines at most").with_default().range(1, 1'000'000),
        field("ranges", &ReadArgs::ranges)
            .desc("Several ranges of lines in place of offset and limit")
            .optional(),
        field("numbered", &ReadArgs::numbered)
            .desc("Each line after its number and a tab")
            .with_default(),
        field("max_line_bytes", &ReadArgs::max_line_bytes)
            .desc("Cut longer lines here, and say so")
            .with_default()
            .range(16, 1'000'000),
        field("max_bytes", &ReadArgs::max_bytes)
            .desc("Text shown at most")
            .with_default()
            .range(1, 8 * 1024 * 1024),
        field("byte_offset", &ReadArgs::byte_offset)
            .desc("Read bytes from here in place of lines; for binary files"),
        field("byte_count", &ReadArgs::byte_count)
            .desc("Bytes to read; 4096 when only byte_offset is given")
            .range(1, 1024 * 1024));
  }
};

struct PartEntry {
  std::uint64_t first_line = 0;
  std::uint64_t last_line = 0;
  std::string text;
  std::uint64_t cut_lines = 0;
  bool truncated = false;

  static constexpr auto describe() {
    return contract::fields(
        field("first_line", &PartEntry::first_line).desc("First line shown; 0 = none"),
        field("last_line", &PartEntry::last_line).desc("Last line shown"),
        field("text", &PartEntry::text).desc("The lines as shown"),
        field("cut_lines", &PartEntry::cut_lines).desc("Lines that were too long and were cut"),
        field("truncated", &PartEntry::truncated).desc("max_bytes ended it early"));
  }
};

struct ReadEntry {
  std::string path;
  std::string kind = "text";
  std::string mime;
  std::uint64_t size = 0;
  std::optional<std::string> etag;
  std::string mode;
  std::optional<std::string> encoding;
  std::optional<std::string> line_ending;
  std::optional<bool> final_newline;
  std::optional<std::uint64_t> invalid_bytes;
  std::optional<std::uint64_t> total_lines;
  std::vector<PartEntry> parts;
  std::optional<std::uint64_t> byte_offset;
  std::optional<std::string> base64;
  std::vector<std::string> notes;

  static constexpr auto describe() {
    return contract::fields(
        field("path", &ReadEntry::path).desc("Absolute path"),
        field("kind", &ReadEntry::kind).one_of("text,image,binary,bytes").desc("What it is"),
        field("mime", &ReadEntry::mime).desc("Media type by its first bytes"),
        field("size", &ReadEntry::size).desc("Bytes of the file"),
        field("etag", &ReadEntry::etag)
            .desc("Hash of the content, for if_etag; absent for very large files"),
        field("mode", &ReadEntry::mode).desc("Permission bits, octal"),
        field("encoding", &ReadEntry::encoding)
            .one_of("utf-8,utf-8-bom,utf-16le,utf-16be,latin-1")
            .desc("Encoding of a text file"),
        field("line_ending", &ReadEntry::line_ending)
            .one_of("none,lf,crlf,mixed")
            .desc("Its line ends"),
        field("final_newline", &ReadEntry::final_newline).desc("Its last line has a line end"),
        field("invalid_bytes", &ReadEntry::invalid_bytes)
            .desc("Bytes that are not UTF-8, shown as U+FFFD"),
        field("total_lines", &ReadEntry::total_lines).desc("All its lines"),
        field("parts", &ReadEntry::parts).desc("What was asked for, range by range"),
        field("byte_offset", &ReadEntry::byte_offset).desc("Where the bytes begin"),
        field("base64", &ReadEntry::base64).desc("The bytes, when bytes were asked for"),
        field("notes", &ReadEntry::notes).desc("What else must be known"));
  }
};

/// On a side: what services of models take at most.
constexpr std::uint32_t kMaxPixels = 8000;

constexpr const char* kDescription =
    "Read a file. Text comes by lines with their numbers (offset and limit, or several ranges); "
    "encoding, CRLF and a missing final newline are told, long lines are cut and said. PNG, JPEG, "
    "GIF and WebP come as pictures; other binary files are described (byte_offset reads their "
    "bytes). The etag makes a later edit safe against other changes. The session's wall decides "
    "what can be read; FIFOs, devices and sockets are refused.";

std::vector<LineRange> ranges_of(const ReadArgs& args) {
  std::vector<LineRange> ranges;
  for (const RangeArgs& range : args.ranges) {
    ranges.push_back(
        {static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.limit)});
  }
  if (ranges.empty()) {
    ranges.push_back({static_cast<std::size_t>(args.offset), static_cast<std::size_t>(args.limit)});
  }
  return ranges;
}

WindowOptions window_options(const ReadArgs& args) {
  return {.numbered = args.numbered,
          .max_line_bytes = static_cast<std::size_t>(args.max_line_bytes),
          .max_bytes = static_cast<std::size_t>(args.max_bytes)};
}

void add_windows(ReadEntry& entry, Windows windows) {
  entry.total_lines = windows.total_lines;
  for (LineWindow& window : windows.windows) {
    entry.parts.push_back({.first_line = window.first,
                           .last_line = window.last,
                           .text = std::move(window.text),
                           .cut_lines = window.cut_lines,
                           .truncated = window.full});
  }
}

std::string text_of(const ReadEntry& entry, const std::vector<LineRange>& ranges) {
  constexpr std::size_t kAround = 1024;
  std::string text;
  std::size_t room = kAround;
  for (const PartEntry& part : entry.parts) {
    room += part.text.size();
  }
  text.reserve(room);
  const std::uint64_t total = entry.total_lines.value_or(0);
  for (std::size_t i = 0; i < entry.parts.size(); ++i) {
    const PartEntry& part = entry.parts[i];
    if (entry.parts.size() > 1) {
      text += fmt::format("[lines {} to {}]\n", part.first_line, part.last_line);
    }
    text += part.text;
    if (part.first_line == 0 && total != 0) {
      text += fmt::format("[no line {}: the file has {}]\n", ranges[i].first, total);
    } else if (part.last_line < total && i + 1 == entry.parts.size()) {
      text += fmt::format("[lines {} to {} of {}; offset {} goes on]\n", part.first_line,
                          part.last_line, total, part.last_line + 1);
    }
  }
  if (entry.size == 0 && entry.kind == "text" && total == 0) {
    text += "[the file is empty]\n";
  }
  if (entry.encoding && *entry.encoding != "utf-8") {
    text += fmt::format("[encoding: {}]\n", *entry.encoding);
  }
  if (entry.line_ending == "crlf" || entry.line_ending == "mixed") {
    text += fmt::format("[line ends: {}]\n", *entry.line_ending);
  }
  if (entry.final_newline == false) {
    text += "[no newline at the end of the file]\n";
  }
  for (const std::string& note : entry.notes) {
    text += fmt::format("[{}]\n", note);
  }
  if (entry.etag) {
    text += fmt::format("[etag {}]\n", *entry.etag);
  }
  return text;
}

/// A text too large to be held: its lines are counted and shown as they pass.
Result<> read_large(const contract::Context& context, int fd, const ReadArgs& args,
                    ReadEntry& entry) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::string piece(kPiece, '\0');
  WindowBuilder builder(ranges_of(args), window_options(args));
  bool first = true;
  char last = '\n';
  while (true) {
    if (context.cancelled()) {
      return contract::fail(ErrorCode::Cancelled, "reading was cancelled");
    }
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::unexpected(Error::from_errno(errno, "read", "cannot read the file"));
    }
    if (got == 0) {
      break;
    }
    const std::string_view part = std::string_view(piece).substr(0, static_cast<std::size_t>(got));
    if (first &&
        (looks_binary(part) || part.starts_with("\xFF\xFE") || part.starts_with("\xFE\xFF"))) {
      entry.kind = "binary";
      entry.mime = media_type_of(part).mime;
      entry.notes.push_back(fmt::format("{}, {} bytes; byte_offset reads its bytes",
                                        media_type_of(part).name, entry.size));
      return {};
    }
    first = false;
    last = part.back();
    builder.feed(part);
  }
  entry.final_newline = last == '\n';
  entry.notes.emplace_back("The file is too large for an etag; its encoding was taken for UTF-8");
  add_windows(entry, builder.finish());
  return {};
}

/// A range of bytes, as base64.
Result<> read_bytes(int fd, const ReadArgs& args, ReadEntry& entry) {
  const std::uint64_t offset = args.byte_offset.value_or(0);
  std::string bytes(static_cast<std::size_t>(args.byte_count.value_or(4096)), '\0');
  std::size_t used = 0;
  // Behind the largest offset that there is, nothing is.
  const std::uint64_t last = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  while (used < bytes.size() && offset <= last - bytes.size()) {
    const ssize_t got =
        pread(fd, bytes.data() + used, bytes.size() - used, static_cast<off_t>(offset + used));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::unexpected(Error::from_errno(errno, "pread", "cannot read the file"));
    }
    if (got == 0) {
      break;
    }
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  entry.kind = "bytes";
  entry.byte_offset = offset;
  entry.base64 = to_base64(bytes);
  entry.notes.push_back(fmt::format("{} bytes from {} of {}, in base64", used, offset, entry.size));
  return {};
}

/// What the file is, and the picture that is shown beside it.
struct Reading {
  ReadEntry entry;
  std::string picture;
};

/// What can be large is moved into the structure, and not copied once more.
contract::Outcome show(const ToolSupport& support, const Place& place, const ReadArgs& args,
                       Reading reading) {
  ReadEntry& entry = reading.entry;
  std::string text = text_of(entry, ranges_of(args));
  if (entry.base64 && entry.kind == "bytes") {
    text = *entry.base64 + "\n" + text;
  }
  std::vector<std::string> shown;
  for (PartEntry& part : entry.parts) {
    shown.push_back(std::move(part.text));
    part.text.clear();
  }
  auto outcome = support.outcome(place, std::move(text), entry);
  if (!outcome.result.structured) {
    return outcome;
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    (*outcome.result.structured)["parts"][i]["text"] = std::move(shown[i]);
  }
  if (!reading.picture.empty()) {
    outcome.result.output = std::vector<contract::Part>{
        contract::Part{{"type", "text"}, {"text", std::get<std::string>(outcome.result.output)}},
        contract::Part{{"type", "input_image"},
                       {"image_url",
                        fmt::format("data:{};base64,{}", entry.mime, to_base64(reading.picture))}}};
  }
  return outcome;
}

Result<sandbox::OpenedFile> open_file(const contract::Context& context, const Place& place,
                                      const std::string& path, const std::string& asked) {
  auto opened = place.files->open(context, path);
  if (opened) {
    return opened;
  }
  const auto* why = opened.error().find<sandbox::FileFailure>();
  if (why != nullptr && why->kind == sandbox::FileFailure::Kind::Directory) {
    return contract::fail(ErrorCode::InvalidArgument,
                          asked + " is a directory; list_files shows what it holds");
  }
  return std::unexpected(explained(place, path, Access::Read, opened.error()));
}

void describe_picture(std::string bytes, const MediaType& media, ImageSize pixels,
                      std::size_t most_bytes, Reading& reading) {
  const bool shown =
      bytes.size() <= most_bytes && std::max(pixels.width, pixels.height) <= kMaxPixels;
  reading.entry.kind = "image";
  reading.entry.mime = media.mime;
  reading.entry.notes.push_back(fmt::format("{} of {} x {} pixels, {} bytes{}", media.name,
                                            pixels.width, pixels.height, bytes.size(),
                                            shown ? "" : ": too large to be shown"));
  if (shown) {
    reading.picture = std::move(bytes);
  }
}

void describe_binary(const MediaType& media, ReadEntry& entry) {
  entry.kind = "binary";
  entry.mime = media.mime;
  entry.notes.push_back(fmt::format("{}{}, {} bytes; byte_offset reads its bytes",
                                    media.image ? "damaged or not complete: " : "", media.name,
                                    entry.size));
}

void describe_text(const DecodedText& decoded, const ReadArgs& args, ReadEntry& entry) {
  entry.encoding = std::string(to_string(decoded.style.encoding));
  entry.line_ending = std::string(to_string(decoded.style.ending));
  entry.final_newline = decoded.style.final_newline;
  if (decoded.style.invalid_bytes != 0) {
    entry.invalid_bytes = decoded.style.invalid_bytes;
    entry.notes.push_back(
        fmt::format("{} bytes are not UTF-8 and are shown as U+FFFD", decoded.style.invalid_bytes));
  }
  add_windows(entry, show_lines(decoded.text, ranges_of(args), window_options(args)));
}

Result<Reading> read_place(const ToolSupport& support, const contract::Context& context,
                           const Place& place, const ReadArgs& args) {
  Reading reading;
  ReadEntry& entry = reading.entry;
  entry.path = BAWN_TRY(absolute_path(place, args.path));
  const auto opened = BAWN_TRY(open_file(context, place, entry.path, args.path));
  entry.size = opened.status.size;
  entry.mode = octal(opened.status.mode);
  entry.mime = "text/plain";
  if (args.byte_offset || args.byte_count) {
    BAWN_TRY(read_bytes(opened.fd.get(), args, entry));
    return reading;
  }
  if (entry.size > support.options().max_etag_file) {
    BAWN_TRY(read_large(context, opened.fd.get(), args, entry));
    return reading;
  }
  auto bytes = read_whole(context, opened.fd.get(), entry.size, support.options().max_text_file);
  if (!bytes) {
    return std::unexpected(bytes.error().wrap(args.path));
  }
  entry.size = bytes->size();  // of /proc files, whose status has none
  entry.etag = etag_of(*bytes);
  const MediaType media = media_type_of(*bytes);
  if (const auto pixels = media.image ? image_size(*bytes) : std::nullopt) {
    describe_picture(*std::move(bytes), media, *pixels, support.options().max_image, reading);
    return reading;
  }
  const auto decoded = decode_text(*std::move(bytes));
  if (decoded && media.mime != "application/pdf") {
    describe_text(*decoded, args, entry);
  } else {
    describe_binary(media, entry);
  }
  return reading;
}

contract::Outcome read_file(const ToolSupport& support, const contract::Context& context,
                            const ReadArgs& args) {
  const auto place = support.place(context, args.session);
  if (!place) {
    return place.error();
  }
  auto reading = read_place(support, context, *place, args);
  return reading ? show(support, *place, args, *std::move(reading))
                 : ToolSupport::failure(*place, reading.error());
}

}  // namespace

Result<contract::ToolPtr> make_read_tool(const SupportPtr& support) {
  contract::ToolOptions options = support->tool_options({.title = "Read a file",
                                                         .read_only = true,
                                                         .destructive = false,
                                                         .idempotent = true,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<ReadEntry>());
  options.cli = contract::CliInfo{.group = "files", .operation = "read", .positional = {"path"}};
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return support->resources(context, args);
  };
  options.replay = [](const contract::Context&, std::string_view) {
    return contract::Replay::Safe;
  };
  return contract::make_tool<ReadArgs>(
      "read_file", kDescription,
      [support](const contract::Context& context, const ReadArgs& args) {
        return read_file(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::files
