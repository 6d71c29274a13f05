/// \file
/// The groups of the bench. Each measures its cases interleaved with their floors and returns rows
/// without ratios; see compare().
#pragma once

#include "sampler.hpp"

#include <string>
#include <vector>

namespace bawn::bench {

struct Setup {
  std::string bawn;           ///< the program under test, absolute
  std::string floor_mcp;      ///< the floor's MCP server, absolute
  std::string constant_mcp;   ///< a server of bawn::mcp with one constant tool, absolute
  std::string floor_http;     ///< the least server over HTTP on Beast, absolute
  std::string constant_http;  ///< constant_mcp over HTTP, absolute
  std::string steady;         ///< the loops of wall_rows, absolute
  std::string workspace;      ///< an empty directory that is removed afterwards
  std::string state_dir;      ///< for bawn's own files, beside the workspace; removed too
  int rounds = 0;             ///< fixed number of rounds for every group; 0 = each group's own
  bool quick = false;         ///< about a fifth of the rounds

  /// The command line of the server under test, and its environment: its files go to state_dir.
  [[nodiscard]] std::vector<std::string> server() const {
    return {bawn, "mcp", "--workspace", workspace};
  }
  [[nodiscard]] std::vector<std::string> server_environment() const {
    return {"BAWN_RUNTIME_DIR=" + state_dir};
  }

  /// Beside `bawn`, as it is installed.
  [[nodiscard]] std::string bawn_http() const { return bawn + "-http"; }

  /// `full` rounds, fewer when quick, `rounds` when that is set.
  [[nodiscard]] int rounds_of(int full) const {
    return rounds > 0 ? rounds : (quick ? (full + 4) / 5 : full);
  }
};

/// What a call costs before and around the tool's own work; in one process.
std::vector<Row> contract_rows(const Setup& setup);
/// One program from nothing: bare, `bawn run`, bubblewrap, and exec inside a session.
std::vector<Row> start_rows(const Setup& setup);
/// The same work bare and inside a session: system calls, git, a compiler, a download by the proxy.
std::vector<Row> wall_rows(const Setup& setup);
/// `:` in a bash that stays: pipes, the shell library, MCP; and the protocol alone.
std::vector<Row> call_rows(const Setup& setup);
/// Many programs at once, over several sessions.
std::vector<Row> parallel_rows(const Setup& setup);
/// A file opened, read and written through the file agent.
std::vector<Row> file_rows(const Setup& setup);
/// The protocol alone on stdio and over HTTP, beside the least servers: round trips, 8 and 64 calls
/// in flight, start to the first answer over HTTP.
std::vector<Row> mcp_rows(const Setup& setup);
/// From the start of a server to the answer of its first request.
std::vector<Row> first_answer_rows(const Setup& setup);
/// Memory of a server, MiB of proportional set size.
std::vector<Row> memory_rows(const Setup& setup);
/// 100 MiB of output, read and counted; in a full run also 1 GiB.
std::vector<Row> output_rows(const Setup& setup);

/// The file tools over MCP beside cat, dd, sed and rg.
std::vector<Row> file_tool_rows(const Setup& setup);

}  // namespace bawn::bench
