#include "guarantees.hpp"

#include "kernel_abi.hpp"
#include "paths.hpp"

#include <fmt/format.h>

namespace bawn::sandbox {
namespace {

GuaranteeState held() {
  return {true, {}, {}};
}

GuaranteeState lost(std::string why, std::string remedy) {
  return {false, std::move(why), std::move(remedy)};
}

constexpr const char* kNamespaces = "user namespaces";

/// Mounts wall in only a command that cannot undo them.
bool mounts_hold(const LayersInForce& layers) {
  return layers.mounts && (layers.hygiene || layers.seccomp || layers.landlock_abi > 0);
}

GuaranteeState fs_write(const LayersInForce& layers) {
  if (mounts_hold(layers) || layers.landlock_abi >= 3) {
    return held();
  }
  const char* const remedy = "user namespaces, or Landlock ABI 3 (Linux 6.2)";
  if (layers.landlock_abi > 0) {
    return lost(fmt::format("there are no namespaces, and Landlock ABI {} lets files outside be "
                            "truncated",
                            layers.landlock_abi),
                remedy);
  }
  return lost("there is neither Landlock nor a mount namespace", remedy);
}

GuaranteeState secrets(const LayersInForce& layers, const Place& place) {
  if (mounts_hold(layers)) {
    return held();
  }
  if (layers.landlock_abi == 0) {
    return lost("there is neither Landlock nor a mount namespace", "user namespaces, or Landlock");
  }
  for (const std::string& secret : place.existing_secrets) {
    if (is_within_any(secret, place.writable_roots)) {
      return lost(
          fmt::format("{} lies in a writable directory, and Landlock cannot leave it out", secret),
          kNamespaces);
    }
  }
  return held();
}

GuaranteeState network(const Policy& policy, const LayersInForce& layers) {
  if (policy.network == Network::Full) {
    return lost("the policy opens the network", "a policy with network \"none\"");
  }
  if (layers.seccomp) {
    return held();
  }
  return lost(layers.network_namespace
                  ? "a network namespace alone leaves vsock and other families open"
                  : "without seccomp there is no hold on UDP and other families",
              "seccomp filters");
}

GuaranteeState signals(const LayersInForce& layers) {
  if (layers.pid_namespace || layers.landlock_abi >= 6) {
    return held();
  }
  return lost("there is neither a PID namespace nor Landlock's signal scope",
              "user namespaces, or Landlock ABI 6 (Linux 6.12)");
}

GuaranteeState lifetime(const LayersInForce& layers) {
  if (layers.pid_namespace || layers.landlock_abi >= 6) {
    return held();
  }
  return lost("without a PID namespace or Landlock's signal scope a command can end the warden",
              "user namespaces, or Landlock ABI 6 (Linux 6.12)");
}

GuaranteeState kernel_surface(const LayersInForce& layers) {
  return layers.seccomp ? held() : lost("there is no seccomp filter", "seccomp filters");
}

}  // namespace

LayersInForce layers_of(const SessionPlan& plan) noexcept {
  const std::uint64_t flags = plan.namespaces.clone_flags;
  return {.landlock_abi = plan.landlock.abi,
          .seccomp = plan.seccomp.apply,
          .mounts = (flags & abi::kNewMount) != 0,
          .pid_namespace = (flags & abi::kNewPid) != 0,
          .network_namespace = (flags & abi::kNewNet) != 0,
          .hygiene = plan.hygiene.apply};
}

GuaranteeState state_of(Guarantee guarantee, const Policy& policy, const LayersInForce& layers,
                        const Place& place) {
  if (!policy.enforce) {
    return lost("the policy enforces nothing", "another policy");
  }
  switch (guarantee) {
    case Guarantee::FsWrite:
      return fs_write(layers);
    case Guarantee::Secrets:
      return secrets(layers, place);
    case Guarantee::Network:
      return network(policy, layers);
    case Guarantee::Signals:
      return signals(layers);
    case Guarantee::Lifetime:
      return lifetime(layers);
    case Guarantee::KernelSurface:
      return kernel_surface(layers);
  }
  return lost("unknown guarantee", "a newer bawn");
}

}  // namespace bawn::sandbox
