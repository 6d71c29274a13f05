#include "own_tools.hpp"

#include "bawn/contract/record.hpp"
#include "bawn/sandbox/wall.hpp"
#include "bawn/shell/tools.hpp"
#include "environment.hpp"
#include "reap.hpp"
#include "record_log.hpp"
#include "runtime_dir.hpp"

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

}  // namespace

Result<OwnTools> make_own_tools(const WallOptions& options) {
  OwnTools own;
  own.pool = std::make_shared<shell::SessionPool>(BAWN_TRY(configure(options)));
  own.tools = shell::make_shell_tools(own.pool);
  end_left_behind(own.pool->config().state_dir + "/records");
  const auto records = BAWN_TRY(RecordLog::open(own.pool->config().state_dir));
  own.context = contract::with_recorder(
      contract::Context(), [records](const contract::Context&, const contract::Record& record) {
        return records->append(record);
      });
  return own;
}

}  // namespace bawn::cli
