/// \file
/// What bash and exec take alike.
#pragma once

#include "bawn/contract/describe.hpp"
#include "bawn/shell/session.hpp"
#include "bawn/shell/tools.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bawn::shell {

/// `stdin` with this value stays open.
inline constexpr const char* kOpenInput = "pipe";
/// The largest `max_output_bytes`.
inline constexpr int kMostShown = 102'400;

/// What a call asks for beyond its session's policy.
struct RequestArguments {
  std::vector<std::string> write;
  std::vector<std::string> read;
  std::vector<std::string> hosts;
  std::string justification;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("write", &RequestArguments::write)
            .desc("Existing directories that are to be writable, or protected names, absolute")
            .optional(),
        field("read", &RequestArguments::read)
            .desc("Secrets of the policy that are to be readable, absolute or ~/")
            .optional(),
        field("hosts", &RequestArguments::hosts)
            .desc("Hosts to reach: NAME, *.NAME or ADDRESS, with :PORTS for others than 80 and 443")
            .optional(),
        field("justification", &RequestArguments::justification)
            .desc("Why the call needs it, for the person who decides"));
  }
};

struct CallArguments {
  std::optional<std::string> session;
  std::optional<std::string> input;
  std::optional<std::string> cwd;
  std::map<std::string, std::string> env;
  std::optional<int> timeout_ms;
  std::string on_timeout = "kill";
  int yield_ms = 10'000;
  bool background = false;
  bool tty = false;
  int columns = 120;
  int rows = 40;
  std::optional<std::string> policy;
  std::optional<int> max_output_bytes;
  std::optional<int> output_limit_bytes;
  std::optional<RequestArguments> request;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("session", &CallArguments::session)
            .desc("Name of the session: each has a shell of its own. Left out: the default one"),
        field("stdin", &CallArguments::input)
            .desc("Text for standard input; or exactly \"pipe\": it stays open and bash_input "
                  "writes to it. Left out: /dev/null, so nothing waits for input"),
        field("cwd", &CallArguments::cwd)
            .desc("Working directory for this call only, absolute or below the workspace"),
        field("env", &CallArguments::env)
            .desc("Environment variables for this call only")
            .optional(),
        field("timeout_ms", &CallArguments::timeout_ms)
            .desc("Time limit in milliseconds. Left out: none")
            .range(1, 86'400'000),
        field("on_timeout", &CallArguments::on_timeout)
            .desc("What the time limit does: end everything the call started, or let it go on and "
                  "answer \"running\"")
            .one_of("kill,background")
            .with_default(),
        field("yield_ms", &CallArguments::yield_ms)
            .desc("Answer \"running\" after this many milliseconds; the call goes on and "
                  "bash_output follows it")
            .with_default()
            .range(0, 45'000),
        field("background", &CallArguments::background)
            .desc("Answer at once; the call goes on by itself, bash in a shell of its own that "
                  "begins with this one's state")
            .with_default(),
        field("tty", &CallArguments::tty)
            .desc(
                "Give the call a terminal of its own, for editors, pagers and prompts: the result "
                "has its screen, bash_input types. What a bash text sets there does not last")
            .with_default(),
        field("columns", &CallArguments::columns)
            .desc("Width of that terminal")
            .with_default()
            .range(10, 500),
        field("rows", &CallArguments::rows)
            .desc("Height of that terminal")
            .with_default()
            .range(2, 200),
        field("policy", &CallArguments::policy)
            .desc("Narrow the wall for this call: it can change nothing but the private temporary "
                  "directory. What a bash text sets then does not last")
            .one_of("read-only"),
        field("max_output_bytes", &CallArguments::max_output_bytes)
            .desc("How much output to show; head and tail when there is more")
            .range(256, kMostShown),
        field("output_limit_bytes", &CallArguments::output_limit_bytes)
            .desc("End the call when a stream grows beyond this. Left out: never")
            .range(1, 2'000'000'000),
        field("request", &CallArguments::request)
            .desc("Ask for more than the policy gives, for this call only: the user decides. The "
                  "call then runs to its end in a fresh shell and a wall of its own, or not at "
                  "all. Ask only when the wall was in the way"));
  }
};

/// For sessions of one call. Errors: InvalidArgument for whatever goes on behind an answer.
[[nodiscard]] Result<> check_one_call(const CallArguments& args);

/// Moves what both kinds of requests share.
template <class Request>
void apply(CallArguments& args, Request& request, const ToolOptions& options) {
  if (args.input == kOpenInput) {
    request.input_open = true;
  } else {
    request.input = std::move(args.input);
  }
  request.cwd = std::move(args.cwd).value_or("");
  request.environment.assign(args.env.begin(), args.env.end());
  if (args.timeout_ms) {
    request.timeout = Milliseconds(*args.timeout_ms);
  }
  request.on_timeout = args.on_timeout == "background" ? OnTimeout::Background : OnTimeout::Kill;
  if (!options.one_call) {
    request.yield = Milliseconds(args.background ? 0 : args.yield_ms);
  }
  if (args.tty) {
    request.terminal = TerminalSize{.columns = static_cast<std::uint16_t>(args.columns),
                                    .rows = static_cast<std::uint16_t>(args.rows)};
  }
  request.read_only = args.policy.has_value();
  request.output_limit = static_cast<std::uint64_t>(args.output_limit_bytes.value_or(0));
  request.view_bytes =
      args.max_output_bytes ? static_cast<std::size_t>(*args.max_output_bytes) : options.view_bytes;
}

}  // namespace bawn::shell
