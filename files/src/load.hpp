/// \file
/// Whole files into memory, through the session's file agent.
#pragma once

#include "bawn/files/place.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace bawn::files {

struct LoadedFile {
  std::string bytes;
  sandbox::FileStatus status;
  sandbox::FileAttributes attributes{};
};

/// Reads from `fd` to its end, at most `most` bytes.
///
/// Errors: ResourceExhausted when there is more; the errno of read(2). Ends early with the context.
[[nodiscard]] Result<std::string> read_whole(const contract::Context& context, int fd,
                                             std::size_t expected, std::size_t most);

/// The file at an absolute inside path. Errors: the agent's, explained; ResourceExhausted beyond
/// `most` bytes.
[[nodiscard]] Result<LoadedFile> load_file(const contract::Context& context, const Place& place,
                                           const std::string& path, std::size_t most);

/// The same; none when there is no file of that name.
[[nodiscard]] Result<std::optional<LoadedFile>> load_if_there(const contract::Context& context,
                                                              const Place& place,
                                                              const std::string& path,
                                                              std::size_t most);

}  // namespace bawn::files
