/// \file
/// What a file's content is: text, a picture, bytes.
#pragma once

#include "image_size.hpp"
#include "media_type.hpp"
#include "read_entry.hpp"
#include "text_encoding.hpp"

#include <cstddef>
#include <string>

namespace bawn::files {

/// What the file is, and the picture that is shown beside it.
struct Reading {
  ReadEntry entry;
  std::string picture;
};

/// A text too large to be held: its lines are counted and shown as they pass.
///
/// Errors: of read(2); Cancelled.
[[nodiscard]] Result<> read_large(const contract::Context& context, int fd, const ReadArgs& args,
                                  ReadEntry& entry);

/// A range of bytes, as base64. Errors: of pread(2).
[[nodiscard]] Result<> read_bytes(int fd, const ReadArgs& args, ReadEntry& entry);

/// A picture is shown up to `most_bytes`.
void describe_picture(std::string bytes, const MediaType& media, ImageSize pixels,
                      std::size_t most_bytes, Reading& reading);
void describe_binary(const MediaType& media, ReadEntry& entry);
void describe_text(const DecodedText& decoded, const ReadArgs& args, ReadEntry& entry);

}  // namespace bawn::files
