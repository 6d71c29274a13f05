#include "base64.hpp"
#include "denial.hpp"
#include "etag.hpp"
#include "image_size.hpp"
#include "load.hpp"
#include "paths.hpp"
#include "read_content.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::files {

namespace {

constexpr const char* kDescription =
    "Read a file. Text comes by lines with their numbers (offset and limit, or several ranges); "
    "encoding, CRLF and a missing final newline are told, long lines are cut and said. PNG, JPEG, "
    "GIF and WebP come as pictures; other binary files are described (byte_offset reads their "
    "bytes). The etag makes a later edit safe against other changes. The session's wall decides "
    "what can be read; FIFOs, devices and sockets are refused.";

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
  static_cast<void>(BAWN_TRY(file_path(place, asked)));
  return std::unexpected(explained(place, path, Access::Read, opened.error()));
}

Result<Reading> read_place(const ToolSupport& support, const contract::Context& context,
                           const Place& place, const ReadArgs& args) {
  Reading reading;
  ReadEntry& entry = reading.entry;
  BAWN_TRY(check_together(args));
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
