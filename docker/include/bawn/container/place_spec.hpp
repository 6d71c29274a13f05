/// \file
/// What a container is to be like, before any engine is asked. Everything in here may come from a
/// model: `check` refuses what would reach further than the server's own wall.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/sandbox/policy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bawn::container {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

/// A directory or file of this machine that the container sees.
struct Mount {
  std::string source;  ///< absolute, or relative to the workspace
  std::string target;  ///< absolute inside
  bool read_only = false;
};

/// Upper bounds for all that runs in the container.
struct PlaceLimits {
  std::uint64_t memory_bytes = std::uint64_t{2} << 30U;
  std::uint64_t processes = 512;  ///< processes and threads
  double cpus = 2.0;
  std::uint64_t tmp_bytes = std::uint64_t{512} << 20U;  ///< of each temporary file system
};

enum class PlaceNetwork {
  None,    ///< its own loopback alone
  Bridge,  ///< the engine's default network
};

struct PlaceSpec {
  std::string name;   ///< of the place and of the container
  std::string image;  ///< must be there already: nothing is pulled
  /// Instead of an image: a running container of somebody else, which is joined and left. It keeps
  /// what it has; of this spec only user, environment and workspace have a meaning then.
  std::string existing{};
  std::vector<Mount> mounts{};
  PlaceNetwork network = PlaceNetwork::None;
  PlaceLimits limits{};
  /// Who commands run as inside. Absent: 1000, or with a rootless engine 0, which is its user.
  std::optional<std::uint32_t> uid{};
  std::optional<std::uint32_t> gid{};
  bool read_only_root = true;
  std::vector<std::string> capabilities{};  ///< kept, without "CAP_"; all others are dropped
  std::string seccomp_profile{};  ///< path of one for the engine; empty = the engine's default
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> environment{};
  std::string workspace = "/workspace";  ///< where shells start inside
};

/// What a server's own wall allows its containers.
struct PlaceBounds {
  std::string workspace;         ///< canonical; mounts come from here or below
  bool write_workspace = false;  ///< mounts may be writable
  bool network = false;          ///< a container may have a network
  /// Containers of others that may be joined: what those can reach, calls in them can.
  std::vector<std::string> existing{};
  /// What must hold in a container whatever becomes of bawn's warden there.
  std::vector<sandbox::Guarantee> require{};
};

/// 2 to 48 letters, digits, '_', '.' or '-', beginning with a letter or digit: what every engine
/// takes as a container's name and sessions can be called by.
[[nodiscard]] Result<> check_place_name(const std::string& name);

/// Errors: InvalidArgument or PermissionDenied, one sentence that names what was wrong and what to
/// do.
[[nodiscard]] Result<> check(const PlaceSpec& spec, const PlaceBounds& bounds);

}  // namespace bawn::container
