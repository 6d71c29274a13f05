/// \file
/// The engine's command line for a container. Pure.
#pragma once

#include "bawn/container/engine.hpp"
#include "bawn/container/place_spec.hpp"
#include "mounts.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bawn::container {

/// Where the warden is inside.
inline constexpr const char* kWardenInside = "/.bawn/warden";
/// Label of every container of ours, with the place's own random name as its value.
inline constexpr const char* kPlaceLabel = "bawn.place";

/// What the server brings to a container beside the spec.
struct RunSetup {
  EngineKind engine = EngineKind::Podman;
  bool rootless = false;
  std::string id;  ///< value of kPlaceLabel
  /// The place's own, seen at the same path inside. Empty: the engine does not see our files, the
  /// container is only created, and the warden is copied into a volume of its own.
  std::string directory;
  std::string warden;  ///< path of the warden's program here
  /// The warden cannot run there: the image's own shell is the main process, and waits.
  bool without_warden = false;
  std::uint64_t open_files = 0;  ///< what this process may give; engines ask for more and fail
  std::uint64_t threads = 0;
};

/// What this process can give: limits that engines fail to raise.
[[nodiscard]] RunSetup own_setup(EngineKind engine, bool rootless, std::string id);

/// Words after the command's name: "run" or "create", options, image, and the warden's arguments.
[[nodiscard]] std::vector<std::string> run_arguments(const PlaceSpec& spec,
                                                     const std::vector<HeldMount>& mounts,
                                                     const RunSetup& setup);

/// The socket that the container's main process connects to.
[[nodiscard]] std::string socket_of(const std::string& directory);

/// Its temporary file systems: where a read-only root leaves nothing to write.
[[nodiscard]] std::vector<std::string> temporary_places(const PlaceSpec& spec);

/// Where a container of this spec can be written, absolute.
[[nodiscard]] std::vector<std::string> writable_places(const PlaceSpec& spec);

}  // namespace bawn::container
