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

constexpr std::size_t kSpooled = std::size_t{64} << 20;  // what a session keeps on disk
constexpr const char* kDrain = "C program that drains a pipe";
/// How much is printed.
struct Volume {
  std::string head;  ///< as head(1) takes it
  std::size_t bytes;

  [[nodiscard]] std::string command() const { return "head -c " + head + " /dev/zero"; }
};

/// `file` is where the first bytes go as well; empty = nowhere.
Case drain_floor(std::string name, const Volume& volume, const std::string& file) {
  return {.name = std::move(name), .once = [volume, file] {
            return timed([&]() -> Result<> {
              std::size_t total = 0;
              const os::UniqueFd spool(
                  file.empty()
                      ? -1
                      : ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
              if (floor_drain(volume.command().c_str(), spool.get(), kSpooled, &total) != 0 ||
                  total != volume.bytes) {
                return fail(ErrorCode::Internal, fmt::format("drained {} bytes", total));
              }
              return {};
            });
          }};
}

/// The answer must hold the exact count: speed by losing bytes is no speed.
Result<> call_and_count(McpPeer& peer, const std::string& tool, const std::string& arguments,
                        std::size_t bytes) {
  const std::string_view answer = BAWN_TRY(peer.call_tool(tool, arguments));
  if (answer.find(std::to_string(bytes)) == std::string_view::npos) {
    return fail(ErrorCode::Internal, fmt::format("{}: the answer does not say {} bytes: {}", tool,
                                                 bytes, answer.substr(answer.size() / 2, 300)));
  }
  return {};
}

Case tool_case(const std::string& name, std::shared_ptr<Result<McpPeer>> peer, std::string tool,
               std::string arguments, std::size_t bytes) {
  return {.name = name,
          .once = [peer = std::move(peer), tool = std::move(tool), arguments = std::move(arguments),
                   bytes]() -> Result<Nanoseconds> {
            if (!*peer) {
              return std::unexpected(peer->error());
            }
            return timed([&] { return call_and_count(**peer, tool, arguments, bytes); });
          },
          .floor = kDrain,
          .target = 1.25};
}

using SharedPeer = std::shared_ptr<Result<McpPeer>>;

std::vector<Case> cases_of(const Setup& setup, const SharedPeer& peer, const Volume& volume) {
  Case spooled =
      drain_floor("the same, 64 MiB of it to a file", volume, setup.state_dir + "/spool");
  spooled.floor = kDrain;
  return {
      drain_floor(kDrain, volume, ""),
      spooled,
      tool_case("MCP bash, spooled", peer, "bash",
                fmt::format(R"({{"command":"{}","yield_ms":45000}})", volume.command()),
                volume.bytes),
      tool_case(
          "MCP exec, spooled", peer, "exec",
          fmt::format(R"({{"argv":["head","-c","{}","/dev/zero"],"yield_ms":45000}})", volume.head),
          volume.bytes),
  };
}

}  // namespace

std::vector<Row> output_rows(const Setup& setup) {
  const auto peer = std::make_shared<Result<McpPeer>>(
      McpPeer::connect(setup.server(), setup.server_environment()));
  std::vector<Row> rows = measure(
      "100 MiB of output", cases_of(setup, peer, {.head = "100M", .bytes = std::size_t{100} << 20}),
      setup.rounds_of(15));
  if (!setup.quick && setup.rounds == 0) {
    const auto more = measure(
        "1 GiB of output", cases_of(setup, peer, {.head = "1G", .bytes = std::size_t{1} << 30}), 3);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace bawn::bench
