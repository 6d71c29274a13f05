#include "forecast.hpp"

#include "git_directory.hpp"
#include "guarantees.hpp"
#include "paths.hpp"
#include "survey.hpp"
#include "tool_caches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace bawn::sandbox {
namespace {

using contract::Confinement;
using contract::Layer;

constexpr std::array kGuarantees = {Guarantee::FsWrite,  Guarantee::Secrets,
                                    Guarantee::Network,  Guarantee::Signals,
                                    Guarantee::Lifetime, Guarantee::KernelSurface};

Layer make_layer(const char* name, bool requested, bool applied,
                 const std::vector<std::string>& missing, const std::string& reason) {
  Layer layer;
  layer.name = name;
  layer.requested = requested;
  layer.applied = applied;
  layer.missing = missing;
  if (!applied) {
    layer.reason = requested ? reason : "switched off by the policy";
  }
  return layer;
}

/// Kinds of namespaces that the plan wanted and did not get.
std::vector<std::string> namespaces_missing(const Policy& policy, const KernelFeatures& features,
                                            const SessionPlan& plan) {
  std::vector<std::string> missing = plan.namespaces.missing;
  const auto name = [&](const char* kind, const Feature& feature) {
    if (!feature.available) {
      missing.push_back(fmt::format("no {} namespace: {}", kind, feature.reason));
    }
  };
  name("ipc", features.ipc_namespace);
  name("uts", features.uts_namespace);
  if (policy.network != Network::Full) {
    name("network", features.network_namespace);
  }
  return missing;
}

std::vector<Layer> make_layers(const Policy& policy, const KernelFeatures& features,
                               const SessionPlan& plan, const Place& place) {
  const auto wanted = [&](LayerMode mode) { return policy.enforce && mode != LayerMode::Off; };
  const LayersInForce layers = layers_of(plan);
  std::vector<Layer> list;
  list.push_back(make_layer("landlock", wanted(policy.landlock), layers.landlock_abi > 0,
                            plan.landlock.missing, features.landlock_reason));
  if (layers.landlock_abi > 0) {
    list.back().abi = layers.landlock_abi;
  }
  list.push_back(make_layer("seccomp", wanted(policy.seccomp), layers.seccomp, plan.seccomp.missing,
                            features.seccomp.reason));
  list.push_back(make_layer(
      "namespaces", wanted(policy.namespaces), layers.mounts,
      layers.mounts ? namespaces_missing(policy, features, plan) : std::vector<std::string>{},
      namespaces_blocker(policy, features, place)));
  list.push_back(
      make_layer("hygiene", wanted(policy.hygiene), layers.hygiene, plan.hygiene.missing, ""));
  list.push_back(make_layer("cgroup", wanted(policy.cgroup), plan.cgroup.apply, plan.cgroup.missing,
                            plan.cgroup.reason));
  return list;
}

std::string name_walls(const LayersInForce& layers) {
  std::string by;
  const auto add = [&](bool applied, const char* name) {
    if (applied) {
      by += by.empty() ? name : std::string("+") + name;
    }
  };
  add(layers.landlock_abi > 0, "landlock");
  add(layers.seccomp, "seccomp");
  add(layers.mounts, "namespaces");
  return by;
}

void note_network(Confinement& report, const Policy& policy, const LayersInForce& layers,
                  const SessionPlan& plan) {
  const NetworkPlan& network = plan.network;
  if (policy.network == Network::AllowList && !network.proxy) {
    report.notes.push_back(fmt::format("no host of the list can be reached: {}", network.blocker));
  }
  if (network.sockets_inside) {
    report.notes.emplace_back(
        "servers of the session listen on loopback from port 1024 on, and there is no UDP");
  }
  if (policy.network == Network::Full && !network.supervise) {
    report.notes.push_back(
        fmt::format("cloud metadata addresses are not kept out of reach: {}", network.blocker));
  }
  if (policy.network == Network::Full && network.supervise && layers.landlock_abi < 4) {
    report.notes.emplace_back(
        "a program with two threads can get past the check of cloud metadata addresses, since "
        "Landlock (ABI 4) does not hold TCP here");
  }
}

/// What asks the bus fails in its own words, which do not tell why: a login seems gone.
void note_message_bus(Confinement& report, const Place& place) {
  const std::string bus = fmt::format("/run/user/{}/bus", place.uid);
  if (std::ranges::find(place.host_sockets, bus) != place.host_sockets.end()) {
    report.notes.push_back(fmt::format(
        "the D-Bus socket {} is out of reach: what keeps logins in a keyring (gh, secret-tool) "
        "acts as if there were none",
        bus));
  }
}

/// What survey() opened for the git of a linked worktree or submodule: nobody named it.
void note_git(Confinement& report, const Policy& policy, const Place& place) {
  std::vector<std::string> opened;
  for (const std::string& root : place.writable_roots) {
    const bool named =
        root == place.workspace || std::ranges::any_of(policy.write, [&](const std::string& path) {
          return contains(expand_home(path, {place.home}), root);
        });
    if (!named) {
      opened.push_back(root);
    }
  }
  if (!opened.empty()) {
    report.notes.push_back(fmt::format("writable besides the paths that the policy names: {}",
                                       fmt::join(opened, ", ")));
  }
  for (const std::string& directory : common_directories(opened)) {
    report.notes.push_back(fmt::format(
        "git cannot delete or pack refs, nor finish what needs that: {} itself is not writable "
        "unless the policy's write names it",
        directory));
  }
}

void note_costs(Confinement& report, const Policy& policy, const LayersInForce& layers,
                const SessionPlan& plan, const Place& place) {
  const auto note = [&](bool when, const char* sentence) {
    if (when) {
      report.notes.emplace_back(sentence);
    }
  };
  note(!layers.mounts && layers.landlock_abi > 0,
       "without mounts, files and directories made beside a secret after the start cannot be read, "
       "and \"ls /\" fails");
  note(!layers.pid_namespace, "reaping after the warden's loss relies on markers");
  note(plan.child_scope_layer, "processes of two calls cannot signal each other");
  note(!layers.pid_namespace && layers.landlock_abi < 6,
       "the warden is not protected from the session's processes");
  const bool sockets_in_reach = !layers.mounts && layers.landlock_abi < 9;
  note(layers.seccomp && sockets_in_reach && policy.network != Network::Full &&
           !plan.network.sockets_inside,
       "no sockets at all, Unix sockets included: nothing else would keep the host's out of reach");
  note(layers.seccomp && sockets_in_reach &&
           (policy.network == Network::Full || plan.network.sockets_inside),
       "no Unix sockets: nothing else would keep the host's out of reach");
  note_network(report, policy, layers, plan);
  note_message_bus(report, place);
  note(!layers.mounts && place.private_tmp.empty(), "there is no private temporary directory");
  note(layers.mounts && layers.landlock_abi == 0 && !place.session_dir.empty(),
       "without Landlock a command can read the channel of its session's reports");
}

}  // namespace

Confinement make_forecast(const Policy& policy, const KernelFeatures& features,
                          const SessionPlan& plan, const Place& place) {
  Confinement report;
  report.policy = policy.name;
  report.policy_id = policy_id(policy);
  report.user = fmt::format("{}({})", place.user, place.uid);
  report.layers = make_layers(policy, features, plan, place);
  const LayersInForce layers = layers_of(plan);
  for (const Guarantee guarantee : kGuarantees) {
    const GuaranteeState state = state_of(guarantee, policy, layers, place);
    if (state.held) {
      report.guarantees.emplace_back(to_string(guarantee));
    } else if (policy.enforce &&
               !(guarantee == Guarantee::Network && policy.network == Network::Full)) {
      report.notes.push_back(fmt::format("not held: {}: {}", to_string(guarantee), state.why));
    }
  }
  // A call that may write anywhere is not confined, whatever else is in force.
  report.confined = state_of(Guarantee::FsWrite, policy, layers, place).held;
  if (policy.enforce) {
    report.network = {.mode = std::string(to_string(policy.network)),
                      .proxy = plan.network.proxy,
                      .supervised = plan.network.supervise,
                      .hosts = policy.hosts};
    report.by = name_walls(layers);
    note_costs(report, policy, layers, plan, place);
    note_git(report, policy, place);
    for (std::string& sentence : describe_caches(tool_caches(policy, plan))) {
      report.notes.push_back(std::move(sentence));
    }
  }
  return report;
}

}  // namespace bawn::sandbox
