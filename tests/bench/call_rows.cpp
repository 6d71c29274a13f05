#include "bawn/shell/session.hpp"
#include "floors.h"
#include "groups.hpp"
#include "support/peer_process.hpp"

#include <memory>

namespace bawn::bench {
namespace {

using contract::Error;
using contract::Result;
using test::McpPeer;

constexpr const char* kArguments = R"({"command":":"})";

/// A bash on two pipes for as long as the object lives.
class FloorBash {
 public:
  FloorBash() : failed_(floor_bash_open(&bash_)) {}
  ~FloorBash() {
    if (failed_ == 0) {
      floor_bash_close(&bash_);
    }
  }
  FloorBash(const FloorBash&) = delete;
  FloorBash& operator=(const FloorBash&) = delete;

  Result<> call() {
    const int errnum = failed_ != 0 ? failed_ : floor_bash_call(&bash_, ":");
    if (errnum != 0) {
      return std::unexpected(Error::from_errno(errnum, "floor_bash_call", "bash on pipes"));
    }
    return {};
  }

 private:
  floor_bash bash_{};
  int failed_;
};

using SharedSession = std::shared_ptr<Result<std::shared_ptr<shell::Session>>>;

/// A session of the shell library in this process.
Result<std::shared_ptr<shell::Session>> start_session(const Setup& setup) {
  shell::SessionConfig config;
  config.policy = BAWN_TRY(sandbox::preset("workspace-write"));
  config.workspace = setup.workspace;
  config.state_dir = setup.state_dir;
  config.environment = {"PATH=/usr/bin:/bin", "HOME=/"};
  return shell::Session::start(std::move(config));
}

Case library_case(SharedSession session) {
  return {.name = "shell library", .once = [session = std::move(session)]() -> Result<Nanoseconds> {
            if (!*session) {
              return std::unexpected(session->error());
            }
            return timed([&]() -> Result<> {
              shell::BashRequest request;
              request.command = ":";
              BAWN_TRY((**session)->run(contract::Context{}, std::move(request)));
              return {};
            });
          }};
}

using SharedPeer = std::shared_ptr<Result<McpPeer>>;

SharedPeer connect(const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment = {}) {
  return std::make_shared<Result<McpPeer>>(McpPeer::connect(argv, environment));
}

Case peer_case(std::string name, SharedPeer peer, std::string method, std::string params) {
  return {.name = std::move(name),
          .once = [peer = std::move(peer), method = std::move(method),
                   params = std::move(params)]() -> Result<Nanoseconds> {
            if (!*peer) {
              return std::unexpected(peer->error());
            }
            return timed([&]() -> Result<> {
              BAWN_TRY((*peer)->request(method, params));
              return {};
            });
          }};
}

std::string bash_call() {
  return std::string(R"({"name":"bash","arguments":)") + kArguments + "}";
}

Case against(Case one, std::string floor, std::optional<double> target) {
  one.floor = std::move(floor);
  one.target = target;
  return one;
}

std::vector<Case> shell_cases(const Setup& setup, std::shared_ptr<FloorBash> bash,
                              SharedSession session, SharedPeer server) {
  return {
      {.name = "bash on pipes, C",
       .once = [bash = std::move(bash)] { return timed([&] { return bash->call(); }); }},
      against(library_case(std::move(session)), "bash on pipes, C", std::nullopt),
      peer_case("MCP + bash on pipes, C", connect({setup.floor_mcp, "bash"}), "tools/call",
                bash_call()),
      against(peer_case("MCP bash", std::move(server), "tools/call", bash_call()),
              "MCP + bash on pipes, C", 1.35),
  };
}

std::vector<Case> protocol_cases(const Setup& setup, SharedPeer server) {
  return {
      peer_case("constant answer, C", connect({setup.floor_mcp, "constant"}), "tools/call",
                bash_call()),
      against(peer_case("constant tool over bawn::mcp", connect({setup.constant_mcp}), "tools/call",
                        bash_call()),
              "constant answer, C", 2),
      against(peer_case("ping of bawn mcp", std::move(server), "ping", "{}"), "constant answer, C",
              std::nullopt),
  };
}

}  // namespace

std::vector<Row> call_rows(const Setup& setup) {
  const SharedPeer server = connect(setup.server(), setup.server_environment());
  std::vector<Row> rows = measure(
      "`:` in a bash that stays",
      shell_cases(setup, std::make_shared<FloorBash>(),
                  std::make_shared<SharedSession::element_type>(start_session(setup)), server),
      setup.rounds_of(3000));
  std::vector<Row> protocol =
      measure("MCP on stdio alone", protocol_cases(setup, server), setup.rounds_of(5000));
  rows.insert(rows.end(), protocol.begin(), protocol.end());
  return rows;
}

}  // namespace bawn::bench
