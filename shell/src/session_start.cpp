// Session::start has a file of its own: with it come plans and warden, which a program that brings
// its own wall does not need.
#include "bawn/sandbox/wall.hpp"
#include "bawn/shell/session.hpp"
#include "session_impl.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::shell {

Result<std::shared_ptr<Session>> Session::start(SessionConfig config) {
  const sandbox::Place place = BAWN_TRY(
      sandbox::survey(config.policy, config.workspace, std::string(), sandbox::SurveyScope::Roots));
  config.workspace = place.workspace;
  const std::string directory = BAWN_TRY(prepare_directory(config.state_dir, place.uid, place.gid));
  sandbox::Wall wall = BAWN_TRY(sandbox::raise_wall({.policy = config.policy,
                                                     .workspace = config.workspace,
                                                     .session_dir = directory,
                                                     .warden = config.warden}));
  std::vector<std::string> environment = sandbox::session_environment(
      config.policy, wall.plan, config.environment, sandbox::proxy_port(*wall.warden));
  // What is asked about paths later is asked about where the roots were when the wall was made.
  std::vector<std::string>& roots = config.policy.write;
  roots.insert(roots.end(), place.writable_roots.begin(), place.writable_roots.end());
  auto session = BAWN_TRY(
      start_inside(std::move(config), directory, std::move(wall.warden), std::move(environment)));
  session->impl_->watch = std::move(wall.watch);
  session->impl_->audit = std::move(wall.audit);
  return session;
}

}  // namespace bawn::shell
