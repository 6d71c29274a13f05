#include "read_content.hpp"

#include "base64.hpp"
#include "line_window.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace bawn::files {

namespace {

/// On a side: what services of models take at most.
constexpr std::uint32_t kMaxPixels = 8000;

}  // namespace

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

}  // namespace bawn::files
