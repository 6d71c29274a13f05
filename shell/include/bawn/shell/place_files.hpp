/// \file
/// Small files of a session in a place that no warden of ours stands in.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace bawn::shell {

/// What a shell said of a text that it only parsed.
struct Parsed {
  bool fits = false;    ///< it is well-formed
  std::string message;  ///< the parser's words
};

/// Paths are absolute, in that place. Threads: thread-safe.
class PlaceFiles {
 public:
  virtual ~PlaceFiles() = default;
  /// Makes the file or replaces what it holds. Errors: what the place said; Closed.
  [[nodiscard]] virtual contract::Result<> write(const std::string& path,
                                                 std::string_view bytes) = 0;
  /// A regular file's contents without NUL bytes, `limit` bytes at most; links are not followed.
  [[nodiscard]] virtual contract::Result<std::string> read(const std::string& path,
                                                           std::size_t limit) = 0;
  virtual void remove(const std::string& path) noexcept = 0;
  /// Has the program `shell` parse the file without running it.
  [[nodiscard]] virtual contract::Result<Parsed> parse(const contract::Context& context,
                                                       const std::string& shell,
                                                       const std::string& path) = 0;
};

}  // namespace bawn::shell
