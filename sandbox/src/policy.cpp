#include "bawn/sandbox/policy.hpp"

#include "bawn/contract/canonical.hpp"

namespace bawn::sandbox {

std::string_view to_string(Network network) noexcept {
  switch (network) {
    case Network::None:
      return "none";
    case Network::Loopback:
      return "loopback";
    case Network::AllowList:
      return "allow-list";
    case Network::Full:
      return "full";
  }
  return "none";
}

std::string_view to_string(LayerMode mode) noexcept {
  switch (mode) {
    case LayerMode::Auto:
      return "auto";
    case LayerMode::Required:
      return "required";
    case LayerMode::Off:
      return "off";
  }
  return "auto";
}

std::string_view to_string(Guarantee guarantee) noexcept {
  switch (guarantee) {
    case Guarantee::FsWrite:
      return "fs-write";
    case Guarantee::Secrets:
      return "secrets";
    case Guarantee::Network:
      return "network";
    case Guarantee::Signals:
      return "signals";
    case Guarantee::Lifetime:
      return "lifetime";
    case Guarantee::KernelSurface:
      return "kernel-surface";
  }
  return "fs-write";
}

std::string_view to_string(RunAs run_as) noexcept {
  switch (run_as) {
    case RunAs::WorkspaceOwner:
      return "workspace-owner";
    case RunAs::Root:
      return "root";
    case RunAs::Caller:
      return "caller";
  }
  return "workspace-owner";
}

std::string policy_id(const Policy& policy) {
  // to_json writes every member in one fixed order, so its text is canonical by construction; bytes
  // that are no UTF-8 (a path may hold any) are replaced, which RFC 8785 would refuse.
  return "sha256:" + contract::sha256_hex(contract::dump_json(to_json(policy)));
}

}  // namespace bawn::sandbox
