#include "bawn/contract/json.hpp"
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

/// Twenty lines that only a parser can check: a loop, a function and a here-document.
constexpr const char* kLongText = R"(count() {
  local total=0 one
  for one in "$@"; do
    if ((one > 1)); then
      total=$((total + one))
    fi
  done
  echo "$total"
}
read -r -d '' words <<'END'
first line with "quotes"
second line with $dollar
third line
fourth line
END
case $words in
  first*) : ;;
  *) exit 1 ;;
esac
count 1 2 3 >/dev/null)";

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
Result<std::shared_ptr<shell::Session>> start_session(const Setup& setup,
                                                      shell::SessionLimits limits = {}) {
  shell::SessionConfig config;
  config.policy = BAWN_TRY(sandbox::preset("workspace-write"));
  config.workspace = setup.workspace;
  config.state_dir = setup.state_dir;
  config.environment = {"PATH=/usr/bin:/bin", "HOME=/"};
  config.limits = limits;
  return shell::Session::start(std::move(config));
}

Case library_case(std::string name, SharedSession session, std::string command) {
  return {.name = std::move(name),
          .once = [session = std::move(session),
                   command = std::move(command)]() -> Result<Nanoseconds> {
            if (!*session) {
              return std::unexpected(session->error());
            }
            return timed([&]() -> Result<> {
              shell::BashRequest request;
              request.command = command;
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
      against(library_case("shell library", std::move(session), ":"), "bash on pipes, C",
              std::nullopt),
      peer_case("MCP + bash on pipes, C", connect({setup.floor_mcp, "bash"}), "tools/call",
                bash_call()),
      against(peer_case("MCP bash", std::move(server), "tools/call", bash_call()),
              "MCP + bash on pipes, C", 1.35),
  };
}

/// How long from asking for the end of a running command to its result, processes and all.
Case cancel_case(std::string name, SharedSession session, std::string command) {
  return {.name = std::move(name),
          .once = [session = std::move(session),
                   command = "echo up; " + command]() -> Result<Nanoseconds> {
            if (!*session) {
              return std::unexpected(session->error());
            }
            shell::Session& running = ***session;
            shell::BashRequest request;
            request.command = command;
            request.yield = shell::Milliseconds(0);
            const auto begun = BAWN_TRY(running.run(contract::Context{}, std::move(request)));
            shell::OutputRequest wait;
            wait.call = begun.call;
            wait.until = "up";
            if (begun.out.bytes == 0) {  // only what was not shown yet is waited for
              BAWN_TRY(running.output(contract::Context{}, wait));
            }
            wait.until.reset();
            return timed([&]() -> Result<> {
              BAWN_TRY(running.stop(begun.call));
              const auto ended = BAWN_TRY(running.output(contract::Context{}, wait));
              return ended.reason == shell::Reason::Cancelled
                         ? Result<>()
                         : contract::fail(contract::ErrorCode::Internal, "it was not cancelled");
            });
          }};
}

/// The time that the kernel takes to end a sleeping program and tell its parent.
Case killed_program() {
  return {.name = "kill of a bare sleep, C", .once = []() -> Result<Nanoseconds> {
            long nanoseconds = 0;
            if (const int errnum = floor_kill(&nanoseconds); errnum != 0) {
              return std::unexpected(Error::from_errno(errnum, "floor_kill", "a bare sleep"));
            }
            return Nanoseconds(nanoseconds);
          }};
}

/// With a short grace, of which two pass: what remains is ours.
std::vector<Case> cancel_cases(const SharedSession& session, const SharedSession& short_grace) {
  const std::string floor = "kill of a bare sleep, C";
  return {killed_program(),
          against(cancel_case("cancel: sleep", session, "sleep 600"), floor, std::nullopt),
          against(cancel_case("cancel: pipeline", session, "sleep 600 | cat"), floor, std::nullopt),
          against(cancel_case("cancel: loop of builtins", session, "while :; do :; done"), floor,
                  std::nullopt),
          against(cancel_case("cancel: trap '' INT TERM, 2 x 50 ms of grace", short_grace,
                              "sh -c 'trap \"\" INT TERM; sleep 600; sleep 600'"),
                  floor, std::nullopt)};
}

std::vector<Case> text_cases(const SharedSession& session, const SharedPeer& server) {
  const std::string call =
      R"({"name":"bash","arguments":)" + contract::Json{{"command", kLongText}}.dump() + "}";
  return {library_case("shell library, :", session, ":"),
          against(library_case("shell library, 20 lines", session, kLongText),
                  "shell library, :", std::nullopt),
          against(peer_case("MCP bash, 20 lines", server, "tools/call", call),
                  "shell library, :", std::nullopt)};
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
  const auto session = std::make_shared<SharedSession::element_type>(start_session(setup));
  const auto short_grace = std::make_shared<SharedSession::element_type>(
      start_session(setup, {.stop_grace = shell::Milliseconds(50)}));
  std::vector<Row> rows = measure(
      "`:` in a bash that stays",
      shell_cases(setup, std::make_shared<FloorBash>(), session, server), setup.rounds_of(3000));
  const auto add = [&](const std::vector<Row>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(measure("a text of 20 lines with a here-document, parsed first", text_cases(session, server),
              setup.rounds_of(500)));
  add(measure("the end of a running command", cancel_cases(session, short_grace),
              setup.rounds_of(200)));
  add(measure("MCP on stdio alone", protocol_cases(setup, server), setup.rounds_of(5000)));
  return rows;
}

}  // namespace bawn::bench
