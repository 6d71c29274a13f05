/// \file
/// What read_file is asked for, what it gives back, and that as text.
#pragma once

#include "bawn/contract/make_tool.hpp"
#include "line_window.hpp"
#include "tool_support.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bawn::files {

struct RangeArgs {
  int offset = 1;
  int limit = 2000;

  static constexpr auto describe() {
    using contract::field;
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
    using contract::field;
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
    using contract::field;
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
    using contract::field;
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

/// The lines that a call asks for.
[[nodiscard]] std::vector<LineRange> ranges_of(const ReadArgs& args);
[[nodiscard]] WindowOptions window_options(const ReadArgs& args);
/// Refuses arguments that say different things about what to read. Errors: InvalidArgument.
[[nodiscard]] Result<> check_together(const ReadArgs& args);

/// Lines as shown, range by range.
void add_windows(ReadEntry& entry, Windows windows);

/// The whole result for a reader of text.
[[nodiscard]] std::string text_of(const ReadEntry& entry, const std::vector<LineRange>& ranges);

}  // namespace bawn::files
