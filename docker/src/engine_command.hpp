/// \file
/// The engine's command that holds one container: its standard input is the container's life.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/unique_fd.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace bawn::container {

class EngineCommand {
 public:
  /// With `output` the command's standard output goes there; else to its complaints.
  ///
  /// Errors: of starting it.
  static contract::Result<EngineCommand> start(const std::string& program,
                                               std::vector<std::string> words,
                                               const std::vector<std::string>& environment,
                                               const os::UniqueFd& output);
  EngineCommand() = default;

  /// Readable for poll(2) once the command has ended.
  [[nodiscard]] const os::Pidfd& process() const noexcept { return process_; }
  /// Gives the writing end of its standard input to whoever speaks through it.
  [[nodiscard]] os::UniqueFd take_input() noexcept { return std::move(life_); }
  /// What it printed to its standard error, at most 16 KiB.
  [[nodiscard]] std::string complaints() const;

  /// Ends its input and waits. True when it has ended, and is collected, within `limit`.
  bool end(std::chrono::milliseconds limit) noexcept;
  /// Kills what has not ended.
  void kill() noexcept;

 private:
  os::Pidfd process_;
  os::UniqueFd life_;
  os::UniqueFd errors_;
};

}  // namespace bawn::container
