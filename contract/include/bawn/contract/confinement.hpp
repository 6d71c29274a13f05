/// \file
/// How a call is, or was, confined: the answer to the contract's `confined` property before a call
/// and the report with each result. It says what was really set up; a false claim is a security
/// bug.
#pragma once

#include "bawn/contract/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bawn::contract {

/// One mechanism: asked for, and what became of it.
struct Layer {
  std::string name{};     ///< "landlock", "seccomp", "namespaces", "hygiene", "cgroup", "container"
  bool requested = true;  ///< the policy wanted it
  bool applied = false;   ///< confirmed by the process that applied it
  std::optional<int> abi{};            ///< Landlock ABI in force, where it has a meaning
  std::vector<std::string> missing{};  ///< parts that could not be had, in plain words
  std::string reason{};                ///< why it is not applied, empty when it is

  bool operator==(const Layer&) const = default;
};

/// What of the network a session can reach.
struct NetworkReach {
  std::string mode{};       ///< "none", "loopback", "allow-list", "full"
  bool proxy = false;       ///< named hosts are reached through a proxy that decides and records
  bool supervised = false;  ///< each TCP connection is judged by its address before it is made
  std::vector<std::string> hosts{};  ///< what the policy names, as it names it

  bool operator==(const NetworkReach&) const = default;
};

/// A report, or with `confirmed == false` a forecast made from the policy and the kernel's
/// features.
struct Confinement {
  bool confined = false;
  std::string by{};  ///< "landlock+seccomp+namespaces", "container:NAME", …; empty when unconfined
  bool confirmed = false;   ///< true when the warden said so, false in a forecast
  std::string policy{};     ///< the policy's name
  std::string policy_id{};  ///< "sha256:…" of the effective policy
  std::string user{};       ///< who the command runs as, "name(uid)"
  std::vector<Layer> layers{};
  std::vector<std::string> guarantees{};  ///< what holds: "fs-write", "secrets", "network", …
  std::vector<std::string>
      notes{};  ///< costs and limits that a reader must know, one sentence each
  std::optional<NetworkReach> network{};  ///< absent when unconfined

  bool operator==(const Confinement&) const = default;
};

/// The wire form, members in the order of the struct.
[[nodiscard]] Json to_json(const Confinement& confinement);

}  // namespace bawn::contract
