#include "bawn/contract/encode.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

namespace bawn::shell {

namespace {

using contract::field;

struct KillArgs {
  std::string call;
  std::optional<std::string> session;

  static constexpr auto describe() {
    return contract::fields(
        field("call", &KillArgs::call).desc("Id of the running call, from its result"),
        field("session", &KillArgs::session)
            .desc("Session of the call. Left out: the default one"));
  }
};

struct RestartArgs {
  std::optional<std::string> session;
  bool keep_state = false;
  bool close = false;

  static constexpr auto describe() {
    return contract::fields(
        field("session", &RestartArgs::session)
            .desc("Session whose shell is replaced. Left out: the default one"),
        field("keep_state", &RestartArgs::keep_state)
            .desc("Carry working directory, variables, functions, aliases and options over")
            .with_default(),
        field("close", &RestartArgs::close)
            .desc("End the whole session instead, calls beside the shell included; the next call "
                  "that names it starts a new one")
            .with_default());
  }
};

struct RestartEntry {
  std::string session;
  std::string state;

  static constexpr auto describe() {
    return contract::fields(
        field("session", &RestartEntry::session).desc("Session whose shell was replaced"),
        field("state", &RestartEntry::state)
            .one_of("restored,from_last_snapshot,lost,closed")
            .desc("What became of the old shell's state"));
  }
};

constexpr const char* kKillDescription =
    "Stop a running call of bash or exec: everything that it started ends (INT, then TERM, then "
    "KILL), the shell and its state stay, and the result has what was printed.";
constexpr const char* kRestartDescription =
    "End a session's shell with everything that it started, background jobs included, and start a "
    "new one: fresh in the workspace, or with keep_state as the old one was. exec calls and bash "
    "calls in the background go on. With close the whole session ends.";

contract::ToolOptions control_options(const SupportPtr& support, const char* title) {
  return tool_options(support, {.title = title,
                                .read_only = false,
                                .destructive = true,
                                .idempotent = true,
                                .open_world = false});
}

contract::Outcome kill(const ToolSupport& support, const contract::Context& context,
                       const KillArgs& args) {
  const auto session = support.running(context, args.session);
  if (!session) {
    return session.error();
  }
  if (const auto stopped = (*session)->stop(args.call); !stopped) {
    return stopped.error();
  }
  OutputRequest request;
  request.call = args.call;
  request.view_bytes = support.options().view_bytes;
  auto result = (*session)->output(context, request);
  if (!result) {
    return result.error();
  }
  return support.outcome(**session, args.session, *std::move(result));
}

contract::Outcome restart(const ToolSupport& support, const contract::Context& context,
                          const RestartArgs& args) {
  const auto session = support.running(context, args.session);
  if (!session) {
    return session.error();
  }
  RestartEntry entry{.session = args.session.value_or(support.options().default_session),
                     .state = "closed"};
  if (args.close) {
    const auto key = support.key(context, args.session);
    if (!key) {
      return key.error();
    }
    support.pool().close(*key);
  } else {
    const auto restored = (*session)->restart(context, args.keep_state);
    if (!restored) {
      return restored.error();
    }
    entry.state = to_string(*restored);
  }
  contract::ToolResult result =
      contract::text_result(args.close ? fmt::format("session {} is closed\n", entry.session)
                                       : fmt::format("session {} has a new shell, state: {}\n",
                                                     entry.session, entry.state));
  auto structured = contract::encode(entry);
  if (!structured) {
    return structured.error();
  }
  result.structured = *std::move(structured);
  result.confinement = (*session)->confinement();
  return result;
}

}  // namespace

Result<contract::ToolPtr> make_kill_tool(const SupportPtr& support) {
  contract::ToolOptions options = control_options(support, "Stop a running call");
  options.output_schema = BAWN_TRY(contract::schema_text_of<CallEntry>());
  return contract::make_tool<KillArgs>(
      "bash_kill", kKillDescription,
      [support](const contract::Context& context, const KillArgs& args) {
        return kill(*support, context, args);
      },
      std::move(options));
}

Result<contract::ToolPtr> make_restart_tool(const SupportPtr& support) {
  contract::ToolOptions options = control_options(support, "Restart the shell");
  // It waits for no call of the shell: it is there to end one.
  options.output_schema = BAWN_TRY(contract::schema_text_of<RestartEntry>());
  return contract::make_tool<RestartArgs>(
      "bash_restart", kRestartDescription,
      [support](const contract::Context& context, const RestartArgs& args) {
        return restart(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::shell
