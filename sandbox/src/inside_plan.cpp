#include "bawn/sandbox/inside.hpp"
#include "default_lists.hpp"
#include "kernel_abi.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::sandbox {
namespace {

using contract::Layer;

constexpr int kScopeAbi = 6;

Layer make_layer(const char* name, bool applied, std::vector<std::string> missing,
                 std::string reason) {
  Layer layer;
  layer.name = name;
  layer.applied = applied;
  layer.missing = std::move(missing);
  layer.reason = applied ? std::string() : std::move(reason);
  return layer;
}

Place place_of(const Inside& inside) {
  Place place;
  place.workspace = inside.workspace;
  place.home = inside.home;
  place.uid = inside.uid;
  place.gid = inside.gid;
  place.user = std::to_string(inside.uid);
  place.session_dir = inside.session_dir;
  place.writable_roots = inside.writable;
  place.shared_directories = {"/dev", "/dev/shm", "/tmp", "/var/tmp"};
  return place;
}

void add_layers(contract::Confinement& report, const KernelFeatures& features,
                const SessionPlan& plan, const Inside& inside) {
  report.layers.push_back(make_layer("container", true, inside.missing, {}));
  report.layers.push_back(make_layer("landlock", plan.landlock.abi > 0, plan.landlock.missing,
                                     features.landlock_reason));
  if (plan.landlock.abi > 0) {
    report.layers.back().abi = plan.landlock.abi;
  }
  report.layers.push_back(
      make_layer("seccomp", plan.seccomp.apply, plan.seccomp.missing, features.seccomp.reason));
  report.layers.push_back(make_layer("namespaces", false, {}, "the container has its own"));
  report.layers.back().requested = false;
  report.layers.push_back(make_layer("hygiene", plan.hygiene.apply, plan.hygiene.missing, {}));
}

contract::Confinement forecast_of(const Policy& policy, const KernelFeatures& features,
                                  const SessionPlan& plan, const Inside& inside) {
  contract::Confinement report;
  report.confined = true;
  report.by = "container:" + inside.container;
  report.by += plan.landlock.abi > 0 ? "+landlock" : "";
  report.by += plan.seccomp.apply ? "+seccomp" : "";
  report.policy = policy.name;
  report.policy_id = policy_id(policy);
  report.user = fmt::format("{0}({0})", inside.uid);
  add_layers(report, features, plan, inside);
  report.guarantees = {"fs-write", "secrets", "signals", "lifetime"};
  if (!inside.network) {
    report.guarantees.emplace_back("network");
  }
  if (plan.seccomp.apply) {
    report.guarantees.emplace_back("kernel-surface");
  }
  report.network = contract::NetworkReach{.mode = std::string(to_string(policy.network))};
  report.notes.emplace_back("processes of two calls cannot signal each other");
  if (!plan.child_scope_layer) {
    report.notes.back() = "the session's warden is not protected from the session's processes";
  }
  if (inside.network) {
    report.notes.emplace_back(
        "the network is the engine's: addresses of cloud metadata services are not kept out of "
        "reach");
  }
  return report;
}

}  // namespace

Policy inside_policy(const Inside& inside) {
  Policy policy;
  policy.name = "container";
  policy.write_workspace = true;
  policy.write = inside.writable;
  policy.env_allow = default_environment();
  policy.network = inside.network ? Network::Full : Network::Loopback;
  policy.namespaces = LayerMode::Off;
  policy.run_as = RunAs::Caller;
  return policy;
}

Result<SessionPlan> plan_inside(const KernelFeatures& features, const Inside& inside) {
  const Policy policy = inside_policy(inside);
  const Place place = place_of(inside);
  SessionPlan plan;
  plan.uid = inside.uid;
  plan.gid = inside.gid;
  plan.user = place.user;
  plan.workspace = inside.workspace;
  plan.home = inside.home;
  plan.tmp = "/tmp";
  // The container has a mount and a network namespace, which count as if they were ours.
  plan.landlock = plan_landlock(policy, features.landlock_abi, true, place, true);
  if (features.seccomp.available) {
    plan.seccomp = BAWN_TRY(plan_seccomp(policy, SeccompSituation{.network_namespace = true,
                                                                  .pid_namespace = true,
                                                                  .ipc_namespace = true,
                                                                  .host_sockets_hidden = true}));
  }
  plan.hygiene = plan_hygiene(policy, features, false);
  plan.hygiene.drop_capabilities = !inside.keep_capabilities;
  plan.child_scope_layer = plan.landlock.abi >= kScopeAbi;
  plan.files = plan_files(policy, plan, place);
  // Its own mounts hold attributes; only the writable ones can be changed at all.
  plan.files.hold_attributes = false;
  plan.forecast = forecast_of(policy, features, plan, inside);
  return plan;
}

}  // namespace bawn::sandbox
