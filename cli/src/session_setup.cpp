#include "session_setup.hpp"

#include "bawn/sandbox/wall.hpp"
#include "environment.hpp"
#include "runtime_dir.hpp"

namespace bawn::cli {

contract::Result<shell::SessionConfig> configure_sessions(const WallOptions& options) {
  shell::SessionConfig config;
  config.policy = BAWN_TRY(choose_policy(options));
  config.workspace = BAWN_TRY(sandbox::check_wall(
      {.policy = config.policy, .workspace = options.workspace, .session_dir = {}, .warden = {}}));
  BAWN_TRY(check_apart_from_state(config.workspace));
  config.state_dir = BAWN_TRY(runtime_dir());
  config.environment = own_environment();
  return config;
}

}  // namespace bawn::cli
