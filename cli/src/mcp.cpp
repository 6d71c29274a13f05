/// \file
/// `bawn mcp`: the tools of a session pool, served on stdin and stdout. Nothing is started before
/// the first call needs it.

#include "bawn/contract/record.hpp"
#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"
#include "bawn/sandbox/wall.hpp"
#include "bawn/shell/session_pool.hpp"
#include "bawn/shell/tools.hpp"
#include "commands.hpp"
#include "environment.hpp"
#include "policy_choice.hpp"
#include "reap.hpp"
#include "record_log.hpp"
#include "runtime_dir.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Result;

constexpr const char* kInstructions =
    "bash runs text in one persistent bash per session: directory, variables, functions and "
    "background jobs last from call to call. It runs inside a wall; what the policy forbids fails "
    "with an ordinary errno, and the result's denials say which rule it may have been. There is no "
    "terminal and standard input is empty unless you pass stdin. Start servers with & : the call "
    "returns when its foreground part ends. A call that outlives yield_ms answers \"running\" with "
    "a "
    "call id; follow it with bash_output. A timeout or a cancel ends what the call started and "
    "keeps "
    "the shell. bash_restart gives a fresh shell. exec runs one program beside the shell, with "
    "exact "
    "status and resource use. Output beyond the view is kept: read it with bash_output.";

/// The session's configuration, refused now rather than at the first call when it cannot work.
Result<shell::SessionConfig> configure(const WallOptions& options) {
  shell::SessionConfig config;
  config.policy = BAWN_TRY(choose_policy(options));
  const auto plan = BAWN_TRY(sandbox::forecast_wall(
      {.policy = config.policy, .workspace = options.workspace, .session_dir = {}, .warden = {}}));
  config.workspace = plan.workspace;
  BAWN_TRY(check_apart_from_state(config.workspace));
  config.state_dir = BAWN_TRY(runtime_dir());
  config.environment = own_environment();
  return config;
}

Result<int> serve(const WallOptions& options) {
  auto pool = std::make_shared<shell::SessionPool>(BAWN_TRY(configure(options)));
  const auto server = BAWN_TRY(mcp::Server::create({.name = "bawn",
                                                    .title = "bawn: a bash inside a wall",
                                                    .version = BAWN_VERSION,
                                                    .instructions = kInstructions},
                                                   shell::make_shell_tools(pool)));
  end_left_behind(pool->config().state_dir + "/records");
  const auto records = BAWN_TRY(RecordLog::open(pool->config().state_dir));
  const auto recorder = [records](const contract::Context&, const contract::Record& record) {
    return records->append(record);
  };
  const auto end = BAWN_TRY(mcp::serve_stdio(
      server, {.context = contract::with_recorder(contract::Context(), recorder)}));
  pool->close_all();
  if (end.abandoned_calls > 0) {
    std::_Exit(0);  // their threads still use the tools, which must not be destroyed under them
  }
  return 0;
}

}  // namespace

void add_mcp(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<WallOptions>();
  CLI::App* command = app.add_subcommand("mcp", "Serve the tools over MCP on stdin and stdout");
  add_wall_options(*command, *options);
  command->callback([options, &chosen] {
    chosen = [options] {
      auto status = serve(*options);
      if (!status) {
        std::fprintf(stderr, "bawn: %s\n", status.error().message().c_str());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
