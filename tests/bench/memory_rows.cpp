#include "groups.hpp"
#include "http_peer.hpp"
#include "support/peer_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace bawn::bench {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;
using test::McpPeer;

constexpr int kSessions = 7;  // beside the first; a server keeps 8 by default
constexpr int kRepeats = 5;

/// Proportional set size of one process, MiB.
Result<double> pss(pid_t pid) {
  std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", pid));
  for (std::string word; rollup >> word;) {
    if (double kib = 0; word == "Pss:" && rollup >> kib) {
      return kib / 1024;
    }
  }
  return fail(ErrorCode::NotFound, fmt::format("/proc/{}/smaps_rollup has no Pss", pid));
}

/// The same for a process and all below it.
Result<double> pss_of_tree(pid_t pid) {
  double sum = BAWN_TRY(pss(pid));
  std::error_code gone;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) {
      sum += pss_of_tree(child).value_or(0);  // one that ended meanwhile counts nothing
    }
  }
  return sum;
}

/// What is asked of one server: its memory at three moments, MiB.
struct Readings {
  double idle = 0;
  double tree_of_one = 0;
  double server_per_session = 0;
  double tree_per_session = 0;
};

Result<> open_session(McpPeer& peer, int number) {
  BAWN_TRY(
      peer.call_tool("bash", fmt::format(R"({{"command":":","session":"memory-{}"}})", number)));
  return {};
}

Result<Readings> read_server(const Setup& setup) {
  Readings readings;
  McpPeer peer = BAWN_TRY(McpPeer::connect(setup.server(), setup.server_environment()));
  BAWN_TRY(peer.request("tools/list", "{}"));
  readings.idle = BAWN_TRY(pss(peer.pid()));
  BAWN_TRY(open_session(peer, 0));
  const double server = BAWN_TRY(pss(peer.pid()));
  readings.tree_of_one = BAWN_TRY(pss_of_tree(peer.pid()));
  for (int i = 1; i <= kSessions; ++i) {
    BAWN_TRY(open_session(peer, i));
  }
  readings.server_per_session = (BAWN_TRY(pss(peer.pid())) - server) / kSessions;
  readings.tree_per_session =
      (BAWN_TRY(pss_of_tree(peer.pid())) - readings.tree_of_one) / kSessions;
  return readings;
}

/// One reading of a server over HTTP that has answered once.
void read_http(Row& row, const std::vector<std::string>& argv,
               const std::vector<std::string>& environment = {}) {
  auto peer = HttpPeer::start(argv, environment);
  const auto answered = peer ? peer->ping() : Result<>(std::unexpected(peer.error()));
  if (!answered) {
    row.failure = answered.error().message();
    return;
  }
  row.samples.push_back(pss(peer->pid()).value_or(0));
}

constexpr int kMany = 64;
constexpr const char* kGibibyte =
    R"({"command":"head -c 1G /dev/zero","session":"memory-0","yield_ms":45000})";

/// The growth of the server from one session to 64, for each, and after 1 GiB of output.
Result<std::pair<double, double>> read_many(const Setup& setup) {
  std::vector<std::string> words = setup.server();
  words.insert(words.end(), {"--max-sessions", std::to_string(kMany)});
  McpPeer peer = BAWN_TRY(McpPeer::connect(words, setup.server_environment()));
  BAWN_TRY(open_session(peer, 0));
  const double one = BAWN_TRY(pss(peer.pid()));
  BAWN_TRY(peer.call_tool("bash", kGibibyte));
  const double after = BAWN_TRY(pss(peer.pid()));
  for (int i = 1; i < kMany; ++i) {
    BAWN_TRY(open_session(peer, i));
  }
  return std::pair{(BAWN_TRY(pss(peer.pid())) - after) / (kMany - 1), after - one};
}

Row row_named(std::string name, std::optional<double> target) {
  return {.group = "memory (proportional set size)",
          .name = std::move(name),
          .unit = "MiB",
          .target = target,
          .absolute = true};
}

}  // namespace

std::vector<Row> memory_rows(const Setup& setup) {
  std::vector<Row> rows = {row_named("C program, idle", {}),
                           row_named("bawn mcp, idle", 6),
                           row_named("one session with warden and bash, in all", {}),
                           row_named("bawn mcp, each further session", 1),
                           row_named("the same with warden and bash", {}),
                           row_named("Beast alone, idle", {}),
                           row_named("bawn-http, idle", {})};
  for (int i = 0; i < std::min(kRepeats, setup.rounds_of(kRepeats)); ++i) {
    if (const auto floor = McpPeer::connect({setup.floor_mcp, "constant"})) {
      rows[0].samples.push_back(pss(floor->pid()).value_or(0));
    }
    read_http(rows[5], {setup.floor_http});
    read_http(rows[6],
              {setup.bawn_http(), "--listen", "127.0.0.1:0", "--workspace", setup.workspace},
              setup.server_environment());
    const auto read = read_server(setup);
    if (!read) {
      for (std::size_t k = 1; k <= 4; ++k) {
        rows[k].failure = read.error().message();
      }
      break;
    }
    rows[1].samples.push_back(read->idle);
    rows[2].samples.push_back(read->tree_of_one);
    rows[3].samples.push_back(read->server_per_session);
    rows[4].samples.push_back(read->tree_per_session);
  }
  if (!setup.quick && setup.rounds == 0) {
    rows.push_back(row_named("bawn mcp, each of 64 sessions", 1));
    rows.push_back(row_named("bawn mcp, growth by 1 GiB of output", 1));
    if (const auto read = read_many(setup)) {
      rows[rows.size() - 2].samples.push_back(read->first);
      rows.back().samples.push_back(read->second);
    } else {
      rows.back().failure = rows[rows.size() - 2].failure = read.error().message();
    }
  }
  for (Row& row : rows) {
    std::ranges::sort(row.samples);
  }
  return rows;
}

}  // namespace bawn::bench
