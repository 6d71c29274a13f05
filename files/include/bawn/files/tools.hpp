/// \file
/// The file tools over the contract: read_file, write_file, edit_file, apply_patch, undo_change,
/// list_files, search_files.
#pragma once

#include "bawn/contract/tool.hpp"
#include "bawn/files/place.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bawn::files {

/// Sizes in bytes.
struct ToolOptions {
  std::string default_session = "main";  ///< for the results' words; Places decides
  /// Directory for what undo needs: private to the server, never inside a session's reach. Nothing
  /// in it has a name, so nothing stays when the server ends. Empty: the system's temporary one.
  std::string state_dir;
  std::size_t max_text_file = 64U * 1024 * 1024;  ///< larger ones are not edited or patched
  std::size_t max_etag_file = 32U * 1024 * 1024;  ///< larger ones are read without an etag
  std::size_t max_image = 5U * 1024 * 1024;       ///< larger pictures are described only
  std::size_t undo_bytes = 256U * 1024 * 1024;    ///< old contents that are kept, all sessions
  std::size_t undo_changes = 500;                 ///< changing calls that are kept, all sessions
};

/// The tools over `places`, which they keep alive.
///
/// Errors: of the directory for undo.
[[nodiscard]] Result<std::vector<contract::ToolPtr>> make_file_tools(
    std::shared_ptr<Places> places, const ToolOptions& options = {});

}  // namespace bawn::files
