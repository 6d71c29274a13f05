/// \file
/// One exec of an engine in a container: the way of whoever cannot have a warden of ours in there.
#pragma once

#include "bawn/container/engine.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/unique_fd.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::container {

/// The engine's command, which passes three streams on. Our ends do not block.
struct ExecClient {
  os::Pidfd process;
  os::UniqueFd input;
  os::UniqueFd output;
  os::UniqueFd errors;
};

/// Which container, and as whom.
struct ExecRoute {
  std::shared_ptr<Engine> engine;
  std::string container;
  std::vector<std::string> options;  ///< of the engine's exec: "--user", "1000:1000"

  /// Starts `sh -c SCRIPT sh ARGUMENT…` there. Nothing secret may be in the words: they are in the
  /// engine's command line, which everybody on this machine can read.
  ///
  /// Errors: of starting the engine's command.
  [[nodiscard]] Result<ExecClient> start(const std::vector<std::string>& variables,
                                         std::string_view script,
                                         const std::vector<std::string>& arguments) const;
};

/// What a call's shell runs: it takes one line that leads to the directory, says on its standard
/// error who it is, takes one line that becomes the command, and says its status on both streams.
/// Argument: the nonce of its words.
extern const std::string_view kCallScript;
/// What the shell runs that lists and ends processes and keeps small files. Once its input ends it
/// ends all processes of its session. Arguments: the nonce, the session's mark, its directory's
/// name, and where that is when it is there already.
extern const std::string_view kControlScript;

/// `text` as one word of a shell on one line; newlines become "$n", which both scripts set.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace bawn::container
