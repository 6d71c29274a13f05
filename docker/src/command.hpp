/// \file
/// Runs an engine's command line and takes what it prints.
#pragma once

#include "bawn/container/engine.hpp"

#include <string>
#include <vector>

namespace bawn::container {

struct CommandOutput {
  int status = 0;  ///< exit code, or 128 + signal
  std::string out;
  std::string err;
};

/// "NAME=value" of `environment`; empty when it is not there.
[[nodiscard]] std::string variable(const std::vector<std::string>& environment,
                                   std::string_view name);

/// The first executable file of that name in the environment's PATH; empty when there is none.
[[nodiscard]] std::string find_in_path(const std::vector<std::string>& environment,
                                       const std::string& name);

/// Starts the program with the file `input` as its input (none: /dev/null) and waits for it. A
/// program that outlives the context is killed.
///
/// Errors: of opening the file and of starting it; Cancelled, DeadlineExceeded; ResourceExhausted
/// beyond 16 MiB of output.
[[nodiscard]] Result<CommandOutput> run_command(const contract::Context& context,
                                                const std::string& program,
                                                const std::vector<std::string>& arguments,
                                                const std::vector<std::string>& environment,
                                                const std::string& input = {});

/// The first line that an engine marks as its error, without the mark ("Error: "), else the first
/// that is no log line.
[[nodiscard]] std::string first_complaint(std::string_view text);

}  // namespace bawn::container
