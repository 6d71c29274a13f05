#include "own_tools.hpp"

#include "bawn/contract/record.hpp"
#include "bawn/files/tools.hpp"
#include "bawn/sandbox/wall.hpp"
#include "bawn/shell/tools.hpp"
#include "environment.hpp"
#include "reap.hpp"
#include "record_log.hpp"
#include "runtime_dir.hpp"
#include "session_places.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Result;

/// The session's configuration, refused now rather than at the first call when it cannot work.
Result<shell::SessionConfig> configure(const WallOptions& options) {
  shell::SessionConfig config;
  config.policy = BAWN_TRY(choose_policy(options));
  const auto plan = BAWN_TRY(sandbox::forecast_wall(
      {.policy = config.policy, .workspace = options.workspace, .session_dir = {}, .warden = {}}));
  config.workspace = plan.workspace;
  BAWN_TRY(check_apart_from_state(config.workspace));
  config.state_dir = BAWN_TRY(runtime_dir());
  config.environment = own_environment();
  return config;
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

Result<OwnTools> make_own_tools(const WallOptions& options) {
  OwnTools own;
  own.pool = std::make_shared<shell::SessionPool>(BAWN_TRY(configure(options)));
  own.tools = BAWN_TRY(tools_over(own.pool));
  end_left_behind(own.pool->config().state_dir + "/records");
  const auto records = BAWN_TRY(RecordLog::open(own.pool->config().state_dir));
  own.context = contract::with_recorder(
      contract::Context(), [records](const contract::Context&, const contract::Record& record) {
        return records->append(record);
      });
  return own;
}

}  // namespace bawn::cli
