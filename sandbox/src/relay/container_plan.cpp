#include "bawn/sandbox/relay.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <utility>

namespace bawn::sandbox {

namespace {
constexpr int kAbiWithScopes = 6;  // Linux 6.12
}

SessionPlan plan_in_container(const RelayPlace& place, const std::string& workspace,
                              std::uint32_t uid, std::uint32_t gid, const std::string& home,
                              contract::Confinement outer) {
  SessionPlan plan;
  plan.hygiene.apply = true;
  plan.hygiene.rlimits.push_back({RLIMIT_CORE, 0, 0});
  plan.child_scope_layer = place.landlock_abi >= kAbiWithScopes;
  plan.uid = uid;
  plan.gid = gid;
  plan.user = std::to_string(uid);
  plan.workspace = workspace;
  plan.tmp = "/tmp";
  plan.home = home;
  contract::Layer hygiene{.name = "hygiene"};
  hygiene.applied = true;
  outer.layers.push_back(std::move(hygiene));
  if (!plan.child_scope_layer) {
    outer.notes.push_back(fmt::format(
        "commands of the same user can signal their warden: the kernel {} has no Landlock scopes",
        place.kernel));
  }
  if (uid == place.uid) {
    outer.notes.emplace_back(
        "commands run as the user that keeps their session's files: a command can forge the "
        "report of its own session");
  }
  plan.forecast = std::move(outer);
  plan.forecast.user = fmt::format("{}({})", plan.user, uid);
  return plan;
}

}  // namespace bawn::sandbox
