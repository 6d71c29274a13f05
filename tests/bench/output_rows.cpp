#include "floors.h"
#include "groups.hpp"
#include "support/peer_process.hpp"

#include <fmt/format.h>

#include <memory>

namespace bawn::bench {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Result;
using test::McpPeer;

constexpr std::size_t kBytes = std::size_t{100} << 20;
constexpr const char* kCommand = "head -c 100M /dev/zero";

Case drain_floor() {
  return {.name = "C program that drains a pipe", .once = [] {
            return timed([]() -> Result<> {
              std::size_t total = 0;
              if (floor_drain(kCommand, &total) != 0 || total != kBytes) {
                return fail(ErrorCode::Internal, fmt::format("drained {} bytes", total));
              }
              return {};
            });
          }};
}

/// The answer must hold the exact count: speed by losing bytes is no speed.
Result<> call_and_count(McpPeer& peer, const std::string& tool, const std::string& arguments) {
  const std::string_view answer = BAWN_TRY(peer.call_tool(tool, arguments));
  if (answer.find(std::to_string(kBytes)) == std::string_view::npos) {
    return fail(ErrorCode::Internal, fmt::format("{}: the answer does not say {} bytes: {}", tool,
                                                 kBytes, answer.substr(answer.size() / 2, 300)));
  }
  return {};
}

Case tool_case(const std::string& name, std::shared_ptr<Result<McpPeer>> peer, std::string tool,
               std::string arguments) {
  return {.name = name,
          .once = [peer = std::move(peer), tool = std::move(tool),
                   arguments = std::move(arguments)]() -> Result<Nanoseconds> {
            if (!*peer) {
              return std::unexpected(peer->error());
            }
            return timed([&] { return call_and_count(**peer, tool, arguments); });
          },
          .floor = "C program that drains a pipe",
          .target = 1.25};
}

}  // namespace

std::vector<Row> output_rows(const Setup& setup) {
  const auto peer = std::make_shared<Result<McpPeer>>(
      McpPeer::connect({setup.bawn, "mcp", "--workspace", setup.workspace}));
  const std::vector<Case> cases = {
      drain_floor(),
      tool_case("MCP bash, spooled", peer, "bash", fmt::format(R"({{"command":"{}"}})", kCommand)),
      tool_case("MCP exec, spooled", peer, "exec", R"({"argv":["head","-c","100M","/dev/zero"]})"),
  };
  return measure("100 MiB of output", cases, setup.rounds_of(15));
}

}  // namespace bawn::bench
