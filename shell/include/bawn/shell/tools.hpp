/// \file
/// The shell's tools over the contract: bash, bash_output, bash_kill, bash_restart, exec.
#pragma once

#include "bawn/contract/resource.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/shell/escalation.hpp"
#include "bawn/shell/session_pool.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::shell {

struct ToolOptions {
  /// The session of a call that names none; empty = a name is required.
  std::string default_session = "main";
  std::size_t view_bytes = 32 * 1024;  ///< default size of a result's output, bytes
  /// A session ends with the answer of its one call: bash and exec answer when the call is over,
  /// and refuse what would go on behind the answer.
  bool one_call = false;
  /// Decides about calls that ask for more; empty = the person behind the call is asked.
  Escalator escalator{};
};

/// The tools over `pool`, which they keep alive.
[[nodiscard]] std::vector<contract::ToolPtr> make_shell_tools(std::shared_ptr<SessionPool> pool,
                                                              const ToolOptions& options = {});

/// The kept output of the calls as resources: `bawn://call/{id}/stdout` and `…/stderr`. A caller
/// sees those of its own sessions. At most 1 MiB of a stream is shown, head and tail.
[[nodiscard]] std::shared_ptr<const contract::ResourceProvider> make_output_resources(
    std::shared_ptr<SessionPool> pool);

}  // namespace bawn::shell
