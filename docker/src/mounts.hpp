/// \file
/// Sources of mounts, held by descriptor: between our look and the engine's mount a command in the
/// workspace could put a link in a source's place, so what was mounted is compared afterwards.
#pragma once

#include "bawn/container/place_spec.hpp"
#include "bawn/os/unique_fd.hpp"

#include <string>
#include <vector>

namespace bawn::container {

struct HeldMount {
  std::string source;  ///< canonical path
  std::string target;
  bool read_only = false;
  os::UniqueFd held;  ///< O_PATH on what was looked at
};

/// Resolves every source beneath the workspace.
///
/// Errors: NotFound, PermissionDenied (it leads out of the workspace), InvalidArgument (neither a
/// directory nor a regular file).
[[nodiscard]] Result<std::vector<HeldMount>> hold_mounts(const std::vector<Mount>& mounts,
                                                         const std::string& workspace);

/// Compares what the process `pid` has at the targets with what is held.
///
/// Errors: PermissionDenied when something else was mounted.
[[nodiscard]] Result<> check_mounted(const std::vector<HeldMount>& mounts, int pid);

/// Lets everybody write to the temporary file systems at `targets`: an engine gives one the mode of
/// the image's directory, whatever it is asked for. Where that is not ours to change it stays.
void share_temporary(const std::vector<std::string>& targets, int pid) noexcept;

}  // namespace bawn::container
