/// \file
/// A container as a place for sessions: a warden is inside, and each session has one of its own
/// beside it, so shells, programs and files behave as on the host.
#pragma once

#include "bawn/container/engine.hpp"
#include "bawn/container/place_spec.hpp"
#include "bawn/contract/confinement.hpp"
#include "bawn/sandbox/inside.hpp"
#include "bawn/shell/session.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bawn::container {

/// What holds the container, as the kernel says. Absent = not limited.
struct PlaceFacts {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> processes;
  std::optional<double> cpus;
  std::vector<std::string> capabilities;  ///< that its processes can have at most, lower case
  bool read_only_root = false;
  bool engine_seccomp = false;
  bool no_new_privileges = false;
  bool own_network = false;  ///< a network namespace that is not ours
};

/// What a place needs beside its spec.
struct PlaceSetup {
  std::shared_ptr<Engine> engine;
  EngineVersion version;  ///< what it said about itself
  std::string state_dir;  ///< absolute; bawn's own. The place's directory is made below it
  PlaceBounds bounds;
  std::string warden;  ///< the warden's program; empty = as sandbox::Warden::Options
};

/// Namespace of the record that is written before a container starts.
inline constexpr const char* kHandleRecord = "container:handle";

/// One open container. Threads: thread-safe.
class Place {
 public:
  /// Starts the container and takes its main process over. The record `container:handle` goes to
  /// the context's recorder before the engine is asked.
  ///
  /// Errors: those of check(); NotFound (no such image, no such mount source), AlreadyExists (the
  /// name is taken), Unsupported (the warden cannot run there), Closed (the engine does not answer
  /// or refused; its own words follow).
  /// Blocking: as long as the engine takes, a second as a rule, 60 s at most; a context that ends
  /// removes what was begun.
  static Result<std::shared_ptr<Place>> open(const contract::Context& context, PlaceSpec spec,
                                             PlaceSetup setup);

  virtual ~Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// One more session inside. Of `config` the name, the limits and the spool count.
  ///
  /// Errors: as shell::Session::start(); Closed when the container is gone.
  [[nodiscard]] virtual Result<std::shared_ptr<shell::Session>> start_session(
      shell::SessionConfig config) = 0;

  [[nodiscard]] const PlaceSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const PlaceFacts& facts() const noexcept { return facts_; }
  /// "podman 4.3.1", "podman 4.3.1 (rootless)".
  [[nodiscard]] const std::string& engine_version() const noexcept { return engine_version_; }
  /// Data of the record.
  [[nodiscard]] const Json& handle() const noexcept { return handle_; }
  /// What a session in here will be held by; `confirmed` is false until it runs.
  [[nodiscard]] const contract::Confinement& forecast() const noexcept { return forecast_; }
  /// Why bawn's warden does not stand in there, so that each call is one exec of the engine; empty
  /// where it does.
  [[nodiscard]] const std::string& weaker() const noexcept { return weaker_; }
  /// False once the container is gone, whoever ended it.
  [[nodiscard]] virtual bool alive() const noexcept = 0;

  /// Ends everything inside and removes the container and what belongs to the place. Idempotent.
  ///
  /// Errors: Closed when the engine cannot be asked whether the container is gone.
  /// Blocking: as long as the engine takes, below a second as a rule, 40 s at most.
  Result<> close(const contract::Context& context);

 protected:
  Place(PlaceSpec spec, PlaceSetup setup);

  /// What close() does, once.
  virtual Result<> end(const contract::Context& context) = 0;
  /// What the engine says of the container: its id, its environment.
  Result<Json> learn(const contract::Context& context);
  /// Writes the record and keeps its data.
  Result<> record(const contract::Context& context);
  /// The engine's complaint as one sentence of ours. Sets `foreign_` where the name is another's.
  Error explain(const contract::Context& context, const std::string& complaint);
  /// Removes what carries our label: by that, so that a name that somebody else took since is never
  /// hit.
  Result<> remove_labelled(const contract::Context& context);
  [[nodiscard]] sandbox::Inside inside(std::string session_dir) const;
  /// Tries all layers, then without those that cannot be had in there.
  Result<std::shared_ptr<sandbox::Warden>> start_warden(
      sandbox::KernelFeatures features, const std::string& session_dir,
      const std::function<Result<std::shared_ptr<sandbox::Warden>>(const sandbox::SessionPlan&)>&
          start) const;
  [[nodiscard]] const Engine& engine() const noexcept { return *setup_.engine; }

  PlaceSpec spec_;
  PlaceSetup setup_;
  std::string engine_version_;
  std::string warden_program_;
  std::string id_;  ///< random: the label's value
  Json handle_;
  PlaceFacts facts_;
  std::string home_ = "/tmp";
  std::vector<std::string> environment_;
  contract::Confinement forecast_;
  std::vector<std::string> writable_;  ///< where the container can be written
  std::string weaker_;
  bool foreign_ = false;  ///< what has the name is not ours to remove

 private:
  std::mutex closing_;
  bool closed_ = false;
};

/// Removes the directories of places whose server is gone. Blocking: file operations.
void remove_abandoned_places(const std::string& state_dir);

/// Looks for the container that a record `container:handle` of a dead server names: its label must
/// be the recorded one. With `remove` it is removed.
///
/// Returns true when it was there. Errors: as Engine. Blocking: as Engine.
[[nodiscard]] Result<bool> remove_left_behind(const contract::Context& context, const Json& handle,
                                              const std::vector<std::string>& environment,
                                              bool remove);

}  // namespace bawn::container
