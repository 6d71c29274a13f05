#include "own_tools.hpp"

#include "bawn/contract/record.hpp"
#include "bawn/files/tools.hpp"
#include "bawn/shell/tools.hpp"
#include "call_log.hpp"
#include "reap.hpp"
#include "record_log.hpp"
#include "session_places.hpp"
#include "session_setup.hpp"

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

/// The shell's tools and the file tools over the same sessions.
Result<std::vector<contract::ToolPtr>> tools_over(const std::shared_ptr<shell::SessionPool>& pool) {
  const shell::ToolOptions options;
  auto tools = shell::make_shell_tools(pool, options);
  auto more = BAWN_TRY(files::make_file_tools(
      std::make_shared<SessionPlaces>(pool, options.default_session),
      {.default_session = options.default_session, .state_dir = pool->config().state_dir}));
  std::move(more.begin(), more.end(), std::back_inserter(tools));
  return tools;
}

}  // namespace

Result<OwnTools> make_own_tools(const WallOptions& options, const LimitOptions& limits,
                                LoginEnvironment login) {
  OwnTools own;
  const shell::PoolLimits pool = BAWN_TRY(pool_limits(limits));
  shell::SessionConfig config = BAWN_TRY(configure_sessions(options));
  config.limits.running_exec = limits.calls.value_or(config.limits.running_exec);
  own.pool = login == LoginEnvironment::Yes
                 ? std::make_shared<LoginPool>(std::move(config), pool)
                 : std::make_shared<shell::SessionPool>(std::move(config), pool);
  auto tools = BAWN_TRY(tools_over(own.pool));
  own.tools = BAWN_TRY(with_log(std::move(tools), own.pool->config().state_dir));
  own.resources = shell::make_output_resources(own.pool);
  end_left_behind(own.pool->config().state_dir + "/records");
  const auto records = BAWN_TRY(RecordLog::open(own.pool->config().state_dir));
  own.context = contract::with_recorder(
      contract::Context(), [records](const contract::Context&, const contract::Record& record) {
        return records->append(record);
      });
  return own;
}

}  // namespace bawn::cli
