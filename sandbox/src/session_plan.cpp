#include "bawn/sandbox/plan.hpp"
#include "cgroup_plan.hpp"
#include "forecast.hpp"
#include "guarantees.hpp"
#include "kernel_abi.hpp"
#include "paths.hpp"

#include <fmt/format.h>

namespace bawn::sandbox {
namespace {

Result<> refuse(const Policy& policy, const std::string& what, const std::string& why,
                const std::string& remedy) {
  return contract::fail(
      ErrorCode::Unsupported,
      fmt::format(
          "the policy {} requires {}, which cannot be had here: {}; {} would give it, or set "
          "\"best_effort\" to start without it",
          policy.name, what, why, remedy));
}

/// A layer that the policy marks as required must be there in full.
Result<> check_required_layers(const Policy& policy, const KernelFeatures& features,
                               const SessionPlan& plan, const Place& place) {
  if (policy.landlock == LayerMode::Required && plan.landlock.abi == 0) {
    BAWN_TRY(refuse(policy, "the layer landlock", features.landlock_reason, "Linux 5.13"));
  }
  if (policy.seccomp == LayerMode::Required && !plan.seccomp.apply) {
    BAWN_TRY(refuse(policy, "the layer seccomp", features.seccomp.reason, "Linux 3.17"));
  }
  if (policy.cgroup == LayerMode::Required && !plan.cgroup.apply) {
    BAWN_TRY(refuse(policy, "the layer cgroup", plan.cgroup.reason, kDelegation));
  }
  if (policy.cgroup == LayerMode::Required && !plan.cgroup.missing.empty()) {
    BAWN_TRY(refuse(policy, "the layer cgroup", plan.cgroup.missing.front(), kDelegation));
  }
  if (policy.namespaces != LayerMode::Required) {
    return {};
  }
  if (const std::string blocker = namespaces_blocker(policy, features, place); !blocker.empty()) {
    BAWN_TRY(refuse(policy, "the layer namespaces", blocker, "user namespaces"));
  }
  for (const Feature* feature :
       {&features.ipc_namespace, &features.uts_namespace, &features.network_namespace}) {
    if (!feature->available) {
      BAWN_TRY(refuse(policy, "the layer namespaces", feature->reason, "every kind of namespace"));
    }
  }
  return {};
}

Result<> check_guarantees(const Policy& policy, const SessionPlan& plan, const Place& place) {
  const LayersInForce layers = layers_of(plan);
  for (const Guarantee guarantee : policy.require) {
    const GuaranteeState state = state_of(guarantee, policy, layers, place);
    if (!state.held) {
      BAWN_TRY(refuse(policy, fmt::format("the guarantee {}", to_string(guarantee)), state.why,
                      state.remedy));
    }
  }
  return {};
}

Result<> check_network(const Policy& policy, const SessionPlan& plan) {
  if (policy.network == Network::AllowList && !plan.network.proxy && !policy.best_effort) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("network \"allow-list\" needs a network namespace, or the supervision of "
                    "connect(2), and neither can be had here: {}; use \"none\", or set "
                    "\"best_effort\" to start without a network",
                    plan.network.blocker));
  }
  if (policy.network == Network::Loopback && !layers_of(plan).network_namespace) {
    return contract::fail(ErrorCode::Unsupported,
                          "network \"loopback\" needs a network namespace, which cannot be had "
                          "here; use \"none\"");
  }
  return {};
}

std::string temporary_directory(const SessionPlan& plan, const Place& place) {
  if (layers_of(plan).mounts || place.private_tmp.empty()) {
    return "/tmp";
  }
  return place.private_tmp;
}

Result<> plan_layers(SessionPlan& plan, const Policy& policy, const KernelFeatures& features,
                     const Place& place) {
  plan.namespaces = plan_namespaces(policy, features, place);
  const LayersInForce layers = layers_of(plan);
  if (!layers.mounts && !place.has_siblings && policy.enforce) {
    return contract::fail(ErrorCode::Internal,
                          "a plan without mounts needs the full survey of the place");
  }
  plan.network = plan_network(policy, features, layers.network_namespace);
  plan.landlock = plan_landlock(policy, features.landlock_abi, layers.mounts, place,
                                layers.network_namespace, plan.network.supervise);
  if (features.seccomp.available) {
    plan.seccomp = BAWN_TRY(plan_seccomp(
        policy, SeccompSituation{.network_namespace = layers.network_namespace,
                                 .pid_namespace = layers.pid_namespace,
                                 .ipc_namespace = (plan.namespaces.clone_flags & abi::kNewIpc) != 0,
                                 .host_sockets_hidden = layers.mounts || plan.landlock.abi >= 9,
                                 .supervised = plan.network.supervise,
                                 .sockets_inside = plan.network.sockets_inside}));
  }
  plan.cgroup = plan_cgroup(policy, features, layers.pid_namespace);
  plan.hygiene =
      plan_hygiene(policy, features, layers.mounts, holds_setting(plan.cgroup, "pids.max"));
  plan.hygiene.no_new_privs = policy.enforce;
  plan.child_scope_layer = policy.enforce && !layers.pid_namespace && plan.landlock.abi >= 6;
  return {};
}

}  // namespace

Result<SessionPlan> plan_session(const Policy& policy, const KernelFeatures& features,
                                 const Place& place) {
  SessionPlan plan;
  plan.uid = place.uid;
  plan.gid = place.gid;
  plan.user = place.user;
  plan.workspace = place.workspace;
  plan.home = place.home;
  BAWN_TRY(plan_layers(plan, policy, features, place));
  plan.tmp = temporary_directory(plan, place);
  plan.files = plan_files(policy, plan, place);
  if (policy.enforce) {
    BAWN_TRY(check_network(policy, plan));
    if (!policy.best_effort) {
      BAWN_TRY(check_required_layers(policy, features, plan, place));
      BAWN_TRY(check_guarantees(policy, plan, place));
    }
  }
  plan.forecast = make_forecast(policy, features, plan, place);
  return plan;
}

}  // namespace bawn::sandbox
