/// \file
/// Sessions on the host and in places, by one kind of name: "SESSION" is the host's, and
/// "SESSION@PLACE" runs in the open container PLACE.
#pragma once

#include "bawn/container/place.hpp"
#include "bawn/shell/session_pool.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bawn::container {

/// How this server opens containers.
struct PoolSetup {
  PlaceBounds bounds;
  std::vector<std::string> environment;  ///< "NAME=value": leads to the engines, and is theirs
  std::string warden;                    ///< as in PlaceSetup
  std::size_t places = 8;                ///< open at a time
};

/// The sessions and places of one server. Threads: thread-safe.
class PlacePool : public shell::SessionPool {
 public:
  PlacePool(shell::SessionConfig config, const shell::PoolLimits& limits, PoolSetup setup);
  ~PlacePool() override;

  /// Opens a container as the place that its caller calls `spec.name`. `engine` is "podman",
  /// "docker", or empty for the first that is there.
  ///
  /// Errors: Unsupported (no engine), AlreadyExists, ResourceExhausted, and Place::open's.
  /// Blocking: as Place::open.
  [[nodiscard]] Result<std::shared_ptr<Place>> open(const contract::Context& context,
                                                    PlaceSpec spec, const std::string& engine);
  /// Ends the sessions of the caller's place and removes its container; false when that was joined
  /// and stays.
  ///
  /// Errors: NotFound, and Place::close's.
  Result<bool> close_place(const contract::Context& context, const std::string& name);
  void close_all_places();

  [[nodiscard]] contract::Confinement confinement(const std::string& name) const override;
  [[nodiscard]] std::string workspace_of(const std::string& name) const override;

 protected:
  /// True for the name of a session that runs in a place.
  [[nodiscard]] static bool is_in_place(const std::string& session) noexcept {
    return session.find('@') != std::string::npos;
  }
  [[nodiscard]] Result<std::shared_ptr<shell::Session>> start(shell::SessionConfig config) override;

 private:
  /// Of the session key "SESSION@PLACE"; null for a session on the host, or when it is not open.
  [[nodiscard]] std::shared_ptr<Place> place_of(const std::string& session) const;
  Result<PlaceSetup> engine_for(const contract::Context& context, const std::string& wanted);
  Result<> reserve(const std::string& key, const std::string& name);

  const PoolSetup setup_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Place>> places_;
  std::set<std::string> opening_;
  std::map<EngineKind, PlaceSetup> engines_;  ///< those that answered once
};

}  // namespace bawn::container
