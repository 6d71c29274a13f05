#include "floors.h"
#include "groups.hpp"
#include "support/peer_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <memory>

namespace bawn::bench {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Result;
using test::McpPeer;

constexpr std::size_t kBytes = std::size_t{100} << 20;
constexpr std::size_t kSpooled = std::size_t{64} << 20;  // what a session keeps on disk
constexpr const char* kDrain = "C program that drains a pipe";
constexpr const char* kCommand = "head -c 100M /dev/zero";

/// `file` is where the first bytes go as well; empty = nowhere.
Case drain_floor(std::string name, const std::string& file) {
  return {.name = std::move(name), .once = [file] {
            return timed([&]() -> Result<> {
              std::size_t total = 0;
              const os::UniqueFd spool(
                  file.empty()
                      ? -1
                      : ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
              if (floor_drain(kCommand, spool.get(), kSpooled, &total) != 0 || total != kBytes) {
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
          .floor = kDrain,
          .target = 1.25};
}

}  // namespace

std::vector<Row> output_rows(const Setup& setup) {
  const auto peer = std::make_shared<Result<McpPeer>>(
      McpPeer::connect(setup.server(), setup.server_environment()));
  Case spooled = drain_floor("the same, 64 MiB of it to a file", setup.state_dir + "/spool");
  spooled.floor = kDrain;
  const std::vector<Case> cases = {
      drain_floor(kDrain, ""),
      spooled,
      tool_case("MCP bash, spooled", peer, "bash", fmt::format(R"({{"command":"{}"}})", kCommand)),
      tool_case("MCP exec, spooled", peer, "exec", R"({"argv":["head","-c","100M","/dev/zero"]})"),
  };
  return measure("100 MiB of output", cases, setup.rounds_of(15));
}

}  // namespace bawn::bench
