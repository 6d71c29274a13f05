#include "limit_options.hpp"

#include "duration.hpp"

#include <CLI/CLI.hpp>

#include <limits>

namespace bawn::cli {

void add_limit_options(CLI::App& command, LimitOptions& options) {
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  command.add_option("--max-sessions", options.sessions, "Sessions at a time (8)")
      ->check(CLI::Range(std::uint32_t{1}, kMost));
  command
      .add_option("--max-calls", options.calls,
                  "Calls at a time that run beside the shell of one session (16)")
      ->check(CLI::Range(std::uint32_t{1}, kMost));
  command
      .add_option("--max-spool", options.spool,
                  "Output kept on disk, all sessions together, in bytes or as 512M, 4G (4G)")
      ->transform(CLI::AsSizeValue(false));
  command.add_option("--shell", options.shell,
                     "What runs the text of bash calls: bash, sh (a new one for each call, with "
                     "the state of the last), or the path of either; auto takes bash where there "
                     "is one (auto)");
  command.add_option("--session-idle", options.idle,
                     "How long a session without a running call keeps its place when another one "
                     "needs it: 30s, 5m, 2h (for ever)");
  command.add_option("--join-container", options.joinable,
                     "A running container that container_open may join with \"attach\": calls in "
                     "it reach what it reaches; repeatable");
}

contract::Result<shell::PoolLimits> pool_limits(const LimitOptions& options) {
  shell::PoolLimits limits;
  limits.sessions = options.sessions.value_or(limits.sessions);
  limits.spool_bytes = options.spool.value_or(limits.spool_bytes);
  if (options.idle) {
    limits.idle = BAWN_TRY(parse_duration(*options.idle));
  }
  return limits;
}

std::vector<std::string> words_of(const LimitOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  if (options.sessions) {
    add("--max-sessions", std::to_string(*options.sessions));
  }
  if (options.calls) {
    add("--max-calls", std::to_string(*options.calls));
  }
  if (options.spool) {
    add("--max-spool", std::to_string(*options.spool));
  }
  if (options.idle) {
    add("--session-idle", *options.idle);
  }
  for (const std::string& container : options.joinable) {
    add("--join-container", container);
  }
  if (options.shell) {
    add("--shell", *options.shell);
  }
  return words;
}

}  // namespace bawn::cli
