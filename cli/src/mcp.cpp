/// \file
/// `bawn mcp`: the tools of a session pool, served on stdin and stdout. Nothing is started before
/// the first call needs it.

#include "bawn/mcp/server.hpp"
#include "bawn/mcp/stdio.hpp"
#include "commands.hpp"
#include "own_tools.hpp"
#include "policy_choice.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
    "status and resource use. Output beyond the view is kept: read it with bash_output. read_file, "
    "write_file, edit_file, apply_patch, list_files and search_files act inside the same wall; "
    "their "
    "relative paths start at the workspace. undo_change takes back what one of them changed.";

Result<int> serve(const WallOptions& options) {
  OwnTools own = BAWN_TRY(make_own_tools(options));
  const auto server = BAWN_TRY(mcp::Server::create({.name = "bawn",
                                                    .title = "bawn: a bash inside a wall",
                                                    .version = BAWN_VERSION,
                                                    .instructions = kInstructions},
                                                   std::move(own.tools)));
  const auto end = BAWN_TRY(mcp::serve_stdio(server, {.context = own.context}));
  own.pool->close_all();
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
