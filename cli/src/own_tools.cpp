#include "own_tools.hpp"

#include "bawn/container/tools.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/files/tools.hpp"
#include "bawn/shell/tools.hpp"
#include "call_log.hpp"
#include "reap.hpp"
#include "record_log.hpp"
#include "session_places.hpp"
#include "session_setup.hpp"
#include "shell_choice.hpp"

#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Result;

/// The tools, whose answers the log sees.
Result<std::vector<contract::ToolPtr>> with_log(std::vector<contract::ToolPtr> tools,
                                                const std::string& runtime_dir) {
  const auto log = BAWN_TRY(CallLog::open(runtime_dir));
  for (contract::ToolPtr& tool : tools) {
    tool = BAWN_TRY(logged(std::move(tool), log));
  }
  return tools;
}

/// What the server's own wall allows a container.
container::PoolSetup container_setup(const shell::SessionConfig& config,
                                     const LimitOptions& limits) {
  const sandbox::Policy& policy = config.policy;
  return {.bounds = {.workspace = config.workspace,
                     .write_workspace = policy.write_workspace,
                     .network = policy.network == sandbox::Network::Full,
                     .existing = limits.joinable,
                     .require =
                         policy.best_effort ? std::vector<sandbox::Guarantee>() : policy.require},
          .environment = config.environment,
          .warden = config.warden.program};
}

/// The tools of sessions, each with the argument that leads to a place.
Result<std::vector<contract::ToolPtr>> with_places(std::vector<contract::ToolPtr> tools) {
  for (contract::ToolPtr& tool : tools) {
    tool = BAWN_TRY(container::with_place(std::move(tool)));
  }
  return tools;
}

Result<shell::EscalationDecision> decline(const contract::Context& /*context*/,
                                          const shell::EscalationRequest& /*request*/) {
  shell::EscalationDecision decision;
  decision.by = "this server, which was started with --grant never";
  return decision;
}

/// Asks the person, unless `no_answer` says why not.
shell::Escalator careful(std::function<std::string()> no_answer) {
  return [no_answer = std::move(no_answer)](
             const contract::Context& context,
             const shell::EscalationRequest& request) -> Result<shell::EscalationDecision> {
    shell::EscalationDecision decision;
    decision.by = no_answer();
    return decision.by.empty() ? shell::ask_person(context, request) : decision;
  };
}

/// The shell's tools and the file tools over the same sessions, and the tools of containers.
Result<std::vector<contract::ToolPtr>> tools_over(const std::shared_ptr<container::PlacePool>& pool,
                                                  const WallOptions& asked, SessionLife life) {
  shell::ToolOptions options;
  options.one_call = life == SessionLife::OneCall;
  if (asked.grant == "never") {
    options.escalator = decline;
  } else if (asked.no_answer) {
    options.escalator = careful(asked.no_answer);
  }
  auto tools = shell::make_shell_tools(pool, options);
  auto more = BAWN_TRY(files::make_file_tools(
      std::make_shared<SessionPlaces>(pool, options.default_session),
      {.default_session = options.default_session, .state_dir = pool->config().state_dir}));
  std::move(more.begin(), more.end(), std::back_inserter(tools));
  tools = BAWN_TRY(with_places(std::move(tools)));
  auto containers = container::make_container_tools(pool);
  std::move(containers.begin(), containers.end(), std::back_inserter(tools));
  return tools;
}

}  // namespace

Result<OwnTools> make_own_tools(const WallOptions& options, const LimitOptions& limits,
                                LoginEnvironment login, SessionLife life) {
  OwnTools own;
  const shell::PoolLimits bounds = BAWN_TRY(pool_limits(limits));
  shell::SessionConfig config = BAWN_TRY(configure_sessions(options));
  BAWN_TRY(choose_shell(limits.shell.value_or("auto"), config));
  config.limits.running_exec = limits.calls.value_or(config.limits.running_exec);
  auto setup = container_setup(config, limits);
  own.pool =
      login == LoginEnvironment::Yes
          ? std::make_shared<LoginPool>(std::move(config), bounds, std::move(setup))
          : std::make_shared<container::PlacePool>(std::move(config), bounds, std::move(setup));
  own.tools = [pool = own.pool, asked = options, life]() -> Result<std::vector<contract::ToolPtr>> {
    auto tools = with_log(BAWN_TRY(tools_over(pool, asked, life)), pool->config().state_dir);
    ::malloc_trim(0);  // what the schemas were made of would stay with a server at rest
    return tools;
  };
  own.resources = shell::make_output_resources(own.pool);
  end_left_behind(own.pool->config().state_dir + "/records");
  container::remove_abandoned_places(own.pool->config().state_dir);
  const auto records = BAWN_TRY(RecordLog::open(own.pool->config().state_dir));
  own.context = contract::with_recorder(
      contract::Context(), [records](const contract::Context&, const contract::Record& record) {
        return records->append(record);
      });
  return own;
}

}  // namespace bawn::cli
