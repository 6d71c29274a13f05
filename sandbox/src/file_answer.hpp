/// \file
/// A file agent's answers as values. The agent may have been taken over by what runs beside it, so
/// nothing of what it sends is believed unseen: lengths, numbers, and what a descriptor is.
#pragma once

#include "bawn/sandbox/file_agent.hpp"
#include "file_wire.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::sandbox {

/// What a request was about, for its error's sentence.
struct FileAsk {
  file_wire::Op op;
  std::string path;
  bool changes = false;  ///< an outcome that is unknown must be told
};

/// "cannot open", … ; goes before the path.
[[nodiscard]] std::string_view purpose(file_wire::Op op) noexcept;

/// What one agent sent for one request.
struct FileReply {
  bool failed = false;
  std::string payload;
  os::UniqueFd fd;
};

struct StagedAnswer {
  std::string target;
  std::optional<FileStatus> present;
  int parents_made = 0;
  bool named = false;
  FileAttributes attributes;  ///< of what is there
  std::uint64_t device = 0;   ///< of the new file
  std::uint64_t inode = 0;
};

/// A file whose content comes in answers.
struct OpenedAnswer {
  FileStatus status;
  FileStatus after;  ///< once `content` was read
  FileAttributes attributes;
  std::string content;  ///< the beginning
  bool whole = false;   ///< or all of it
};

struct ContentAnswer {
  std::string content;
  FileStatus after;
};

struct CommittedAnswer {
  CommittedFile file;
  bool old_kept = false;  ///< the replaced file has the hidden name
};

/// Each: Internal when the payload is not such an answer, to its last byte.
[[nodiscard]] Result<FileStatus> read_status(std::string_view payload);
[[nodiscard]] Result<DirectoryPage> read_page(std::string_view payload, bool with_status);
[[nodiscard]] Result<std::string> read_link_text(std::string_view payload);
[[nodiscard]] Result<StagedAnswer> read_staged(std::string_view payload);
[[nodiscard]] Result<OpenedAnswer> read_opened(std::string_view payload);
/// `most` is what was asked for.
[[nodiscard]] Result<ContentAnswer> read_content(std::string_view payload, std::size_t most);
[[nodiscard]] Result<CommittedAnswer> read_committed(std::string_view payload);
[[nodiscard]] Result<int> read_count(std::string_view payload);
[[nodiscard]] Result<> read_nothing(std::string_view payload);

/// The error that a Failed frame means.
[[nodiscard]] Error read_failure(std::string_view payload, const FileAsk& ask);

/// What has no sound answer.
[[nodiscard]] Error malformed_error();
/// Errors of our own: the agent went away (Lost), or did not answer while `ended` came (Late).
[[nodiscard]] Error lost_error(const FileAsk& ask);
[[nodiscard]] Error late_error(const FileAsk& ask, const Error& ended);

/// The descriptor is a regular file's, opened as `access` (O_RDONLY or O_WRONLY), and for writing
/// not on one of the kernel's own file systems. Its status by our own fstat(2), but with the inside
/// owner and group of `told`.
///
/// Errors: Internal.
[[nodiscard]] Result<FileStatus> check_descriptor(const os::UniqueFd& fd, int access,
                                                  const FileStatus& told);

/// A cursor and back. Errors: InvalidArgument.
struct PageStart {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
};
[[nodiscard]] Result<PageStart> read_cursor(const std::string& cursor);

/// The path with single slashes. Errors: InvalidArgument (not absolute, NUL, too long).
[[nodiscard]] Result<std::string> checked_path(const std::string& path);

}  // namespace bawn::sandbox
