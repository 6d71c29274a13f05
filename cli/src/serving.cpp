#include "serving.hpp"

#include <cstdlib>
#include <utility>

namespace bawn::cli {
namespace {

constexpr const char* kInstructions =
    "bash runs text in one persistent bash per session: directory, variables, functions and "
    "background jobs last from call to call. It runs inside a wall; what the policy forbids fails "
    "with an ordinary errno, and the result's denials say which rule it may have been. There is no "
    "terminal and standard input is empty unless you pass stdin. Start servers with & : the call "
    "returns when its foreground part ends. A call that outlives yield_ms answers \"running\" with "
    "a call id; follow it with bash_output. A timeout or a cancel ends what the call started and "
    "keeps the shell. bash_restart gives a fresh shell. exec runs one program beside the shell, "
    "with exact status and resource use. Output beyond the view is kept: read it with bash_output "
    "or as bawn://call/ID/stdout. read_file, write_file, edit_file, apply_patch, list_files and "
    "search_files act inside the same wall; relative paths start at the workspace. undo_change "
    "takes back what one of them changed.";

}  // namespace

contract::Result<mcp::Server> make_server(OwnTools& own) {
  mcp::ServerOptions options{.name = "bawn",
                             .title = "bawn: a bash inside a wall",
                             .version = BAWN_VERSION,
                             .instructions = kInstructions};
  options.resources = own.resources;
  return mcp::Server::create(std::move(options), std::move(own.tools));
}

int finish_serving(const OwnTools& own, std::size_t abandoned_calls) {
  own.pool->close_all();
  own.pool->close_all_places();
  if (abandoned_calls > 0) {
    std::_Exit(0);  // their threads still use the tools, which must not be destroyed under them
  }
  return 0;
}

}  // namespace bawn::cli
