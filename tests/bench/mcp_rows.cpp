#include "groups.hpp"
#include "http_peer.hpp"
#include "support/peer_process.hpp"

#include <fmt/format.h>

#include <memory>

namespace bawn::bench {
namespace {

using contract::Result;
using test::McpPeer;

using SharedPeer = std::shared_ptr<Result<McpPeer>>;
using SharedHttp = std::shared_ptr<Result<HttpPeer>>;

std::string call_lines(std::size_t count) {
  std::string lines;
  for (std::size_t id = 1; id <= count; ++id) {
    lines += fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"bash","arguments":{{"command":":"}}}}}})",
        id);
    lines += '\n';
  }
  return lines;
}

/// `count` calls written at once, until all are answered.
Case on_stdio(std::string name, const SharedPeer& peer, std::size_t count) {
  return {.name = std::move(name),
          .once = [peer, count, lines = call_lines(count)]() -> Result<Nanoseconds> {
            if (!*peer) {
              return std::unexpected(peer->error());
            }
            return timed([&]() -> Result<> {
              BAWN_TRY((*peer)->process().write(lines));
              for (std::size_t i = 0; i < count; ++i) {
                BAWN_TRY((*peer)->process().read_line());
              }
              return {};
            });
          }};
}

/// A call on each of `count` connections.
Case over_http(std::string name, const SharedHttp& peer, std::size_t count) {
  return {.name = std::move(name), .once = [peer, count]() -> Result<Nanoseconds> {
            if (!*peer) {
              return std::unexpected(peer->error());
            }
            return timed([&] { return (*peer)->call_on(count); });
          }};
}

Case against(Case one, const std::string& floor, std::optional<double> target) {
  one.floor = floor;
  one.target = target;
  return one;
}

Case http_start(std::string name, std::vector<std::string> argv,
                std::vector<std::string> environment) {
  return {.name = std::move(name),
          .once = [argv = std::move(argv),
                   environment = std::move(environment)]() -> Result<Nanoseconds> {
            const auto start = std::chrono::steady_clock::now();
            HttpPeer peer = BAWN_TRY(HttpPeer::start(argv, environment));
            BAWN_TRY(peer.ping());
            return std::chrono::steady_clock::now() - start;
          }};
}

}  // namespace

std::vector<Row> mcp_rows(const Setup& setup) {
  const auto floor =
      std::make_shared<Result<McpPeer>>(McpPeer::connect({setup.floor_mcp, "constant"}));
  const auto ours = std::make_shared<Result<McpPeer>>(McpPeer::connect({setup.constant_mcp}));
  const auto http_floor = std::make_shared<Result<HttpPeer>>(HttpPeer::start({setup.floor_http}));
  const auto http_ours = std::make_shared<Result<HttpPeer>>(HttpPeer::start({setup.constant_http}));
  std::vector<Row> rows;
  for (const std::size_t count : {std::size_t{1}, std::size_t{8}, std::size_t{64}}) {
    const std::vector<Case> cases = {
        on_stdio("C program on stdio", floor, count),
        against(on_stdio("bawn::mcp on stdio", ours, count), "C program on stdio", {}),
        over_http("Beast alone over HTTP", http_floor, count),
        against(over_http("bawn::mcp over HTTP", http_ours, count), "Beast alone over HTTP", {})};
    const auto more = measure(fmt::format("MCP, {} calls in flight", count), cases,
                              setup.rounds_of(count == 1 ? 2000 : 300));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const std::vector<Case> starts = {
      http_start("Beast alone", {setup.floor_http}, {}),
      against(
          http_start("bawn-http",
                     {setup.bawn_http(), "--listen", "127.0.0.1:0", "--workspace", setup.workspace},
                     setup.server_environment()),
          "Beast alone", {})};
  const auto more = measure("start to the first answer over HTTP", starts, setup.rounds_of(60));
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace bawn::bench
