#include "file_answer.hpp"

#include "file_attributes.hpp"
#include "kept_attributes.hpp"

#include <fmt/format.h>

#include <charconv>

namespace bawn::sandbox {

namespace {

static_assert(static_cast<std::uint32_t>(FileType::BlockDevice) ==
              static_cast<std::uint32_t>(file_wire::Type::BlockDevice));

wire::Reader reader_of(std::string_view payload) {
  return {reinterpret_cast<const unsigned char*>(payload.data()), payload.size()};
}

std::unexpected<Error> malformed() {
  return std::unexpected(malformed_error());
}

/// A number beyond the list makes `sound` false.
FileType read_type(wire::Reader& in, bool& sound) {
  const std::uint32_t number = in.u32();
  sound = sound && number <= static_cast<std::uint32_t>(FileType::BlockDevice);
  return sound ? static_cast<FileType>(number) : FileType::Unknown;
}

FileStatus take_status(wire::Reader& in, bool& sound) {
  FileStatus status;
  status.type = read_type(in, sound);
  status.mode = in.u32() & 07777U;
  status.uid = in.u32();
  status.gid = in.u32();
  status.size = in.u64();
  status.mtime_ns = static_cast<std::int64_t>(in.u64());
  status.ctime_ns = static_cast<std::int64_t>(in.u64());
  status.device = in.u64();
  status.inode = in.u64();
  status.links = in.u64();
  return status;
}

/// Bytes of any value: length, bytes, a NUL behind them.
std::string take_bytes(wire::Reader& in, bool& sound) {
  const std::size_t length = in.u32();
  const unsigned char* const found = in.bytes(length + 1);
  sound = sound && found != nullptr;
  return sound ? std::string(reinterpret_cast<const char*>(found), length) : std::string();
}

FileAttributes take_attributes(wire::Reader& in, bool& sound) {
  FileAttributes attributes;
  const std::uint32_t count = in.count(16);
  for (std::uint32_t at = 0; at < count && sound; ++at) {
    std::string name = in.text();
    std::string value = take_bytes(in, sound);
    attributes.values.emplace_back(std::move(name), std::move(value));
  }
  return attributes;
}

/// No more than a descriptor would be asked for.
void cut_attributes(FileAttributes& attributes) {
  std::size_t room = kMostAttributes;
  std::erase_if(attributes.values, [&](const auto& entry) {
    const bool fits = is_kept_attribute(entry.first.c_str()) && entry.second.size() <= room;
    room -= fits ? entry.second.size() : 0;
    attributes.complete = attributes.complete && fits;
    return !fits;
  });
}

/// What a directory can hold as a name.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() < file_wire::kMaxName && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos;
}

}  // namespace

Result<FileStatus> read_status(std::string_view payload) {
  wire::Reader in = reader_of(payload);
  bool sound = true;
  const FileStatus status = take_status(in, sound);
  if (!sound || !in.finished()) {
    return malformed();
  }
  return status;
}

Result<DirectoryPage> read_page(std::string_view payload, bool with_status) {
  wire::Reader in = reader_of(payload);
  const std::uint64_t device = in.u64();
  const std::uint64_t inode = in.u64();
  const std::uint64_t offset = in.u64();
  const bool more = in.u32() != 0;
  const std::uint32_t count = in.count(12);
  DirectoryPage page;
  page.entries.reserve(count);
  bool sound = !more || (count > 0 && offset != 0);
  for (std::uint32_t at = 0; at < count && sound; ++at) {
    DirectoryEntry entry;
    entry.type = read_type(in, sound);
    entry.name = in.text();
    if (with_status && in.u32() != 0) {
      entry.status = take_status(in, sound);
    }
    sound = sound && in.ok() && is_name(entry.name);
    page.entries.push_back(std::move(entry));
  }
  if (!sound || !in.finished()) {
    return malformed();
  }
  if (more) {
    page.next = fmt::format("{}:{}:{}", device, inode, offset);
  }
  return page;
}

Result<std::string> read_link_text(std::string_view payload) {
  wire::Reader in = reader_of(payload);
  std::string text = in.text();
  if (!in.finished()) {
    return malformed();
  }
  return text;
}

Result<StagedAnswer> read_staged(std::string_view payload) {
  wire::Reader in = reader_of(payload);
  StagedAnswer answer;
  bool sound = true;
  const std::uint32_t flags = in.u32();
  const std::uint32_t made = in.u32();
  answer.target = in.text();
  answer.named = (flags & file_wire::kNamed) != 0;
  if ((flags & file_wire::kPresent) != 0) {
    answer.present = take_status(in, sound);
  }
  answer.attributes = take_attributes(in, sound);
  answer.attributes.complete = (flags & file_wire::kAttributesCut) == 0;
  answer.device = in.u64();
  answer.inode = in.u64();
  sound = sound && made < file_wire::kMaxPath && answer.target.starts_with('/') &&
          answer.target.size() < 2 * file_wire::kMaxPath;
  if (!sound || !in.finished()) {
    return malformed();
  }
  answer.parents_made = static_cast<int>(made);
  return answer;
}

Result<OpenedAnswer> read_opened(std::string_view payload) {
  wire::Reader in = reader_of(payload);
  OpenedAnswer answer;
  bool sound = true;
  const std::uint32_t flags = in.u32();
  answer.status = take_status(in, sound);
  answer.attributes = take_attributes(in, sound);
  answer.attributes.complete = (flags & file_wire::kMoreAttributes) == 0;
  answer.content = take_bytes(in, sound);
  answer.after = take_status(in, sound);
  answer.whole = (flags & file_wire::kContentEnds) != 0;
  sound = sound && answer.status.type == FileType::Regular &&
          answer.content.size() <= file_wire::kMaxContent;
  if (!sound || !in.finished()) {
    return malformed();
  }
  cut_attributes(answer.attributes);
  return answer;
}

Result<ContentAnswer> read_content(std::string_view payload, std::size_t most) {
  wire::Reader in = reader_of(payload);
  ContentAnswer answer;
  bool sound = true;
  answer.content = take_bytes(in, sound);
  answer.after = take_status(in, sound);
  if (!sound || !in.finished() || answer.content.size() > most) {
    return malformed();
  }
  return answer;
}

Result<CommittedAnswer> read_committed(std::string_view payload) {
  wire::Reader in = reader_of(payload);
  const std::uint32_t flags = in.u32();
  bool sound = true;
  CommittedAnswer answer;
  CommittedFile& file = answer.file;
  file.status = take_status(in, sound);
  file.replaced = (flags & file_wire::kReplaced) != 0;
  file.owner_kept = (flags & file_wire::kOwnerKept) != 0;
  file.durable = (flags & file_wire::kSynced) != 0;
  answer.old_kept = (flags & file_wire::kOldKept) != 0;
  if (!sound || !in.finished()) {
    return malformed();
  }
  return answer;
}

Result<int> read_count(std::string_view payload) {
  wire::Reader in = reader_of(payload);
  const std::uint32_t count = in.u32();
  if (!in.finished() || count > file_wire::kMaxPath) {
    return malformed();
  }
  return static_cast<int>(count);
}

Result<> read_nothing(std::string_view payload) {
  if (!payload.empty()) {
    return malformed();
  }
  return {};
}

Result<PageStart> read_cursor(const std::string& cursor) {
  PageStart start;
  if (cursor.empty()) {
    return start;
  }
  const char* at = cursor.data();
  const char* const end = at + cursor.size();
  bool sound = true;
  for (std::uint64_t* number : {&start.device, &start.inode, &start.offset}) {
    if (number != &start.device) {
      sound = sound && at != end && *at++ == ':';
    }
    const auto [next, error] = std::from_chars(at, end, *number);
    sound = sound && error == std::errc();
    at = next;
  }
  if (!sound || at != end || start.offset == 0) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "the cursor is none that a page of a directory gave");
  }
  return start;
}

Result<std::string> checked_path(const std::string& path) {
  const auto bad = [](std::string sentence) {
    return contract::fail(ErrorCode::InvalidArgument, std::move(sentence));
  };
  if (path.find('\0') != std::string::npos) {
    return bad("a path cannot hold a NUL byte");
  }
  if (path.empty() || path.front() != '/') {
    return bad(fmt::format("the path {:?} is not absolute", path));
  }
  std::string single;
  single.reserve(path.size());
  for (const char byte : path) {
    if (byte != '/' || single.empty() || single.back() != '/') {
      single += byte;
    }
  }
  if (single.size() >= file_wire::kMaxPath) {
    return bad(fmt::format("the path has {} bytes, at most {} are possible", single.size(),
                           file_wire::kMaxPath - 1));
  }
  return single;
}

}  // namespace bawn::sandbox
