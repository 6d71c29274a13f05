#include "groups.hpp"
#include "support/peer_process.hpp"

namespace bawn::bench {
namespace {

using test::McpPeer;

Case server_start(std::string name, std::vector<std::string> argv,
                  std::vector<std::string> environment = {}) {
  return {.name = std::move(name),
          .once = [argv = std::move(argv),
                   environment = std::move(environment)]() -> contract::Result<Nanoseconds> {
            const auto start = std::chrono::steady_clock::now();
            const McpPeer peer = BAWN_TRY(McpPeer::connect(argv, environment));
            return std::chrono::steady_clock::now() - start;
          }};
}

}  // namespace

std::vector<Row> first_answer_rows(const Setup& setup) {
  std::vector<Case> cases;
  cases.push_back(server_start("C program", {setup.floor_mcp, "constant"}));
  cases.push_back(server_start("bawn mcp", setup.server(), setup.server_environment()));
  cases.back().floor = "C program";
  cases.back().target = 2;
  return measure("start to the first answer", cases, setup.rounds_of(150));
}

}  // namespace bawn::bench
