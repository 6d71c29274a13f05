/// \file
/// A container of ours as a place for sessions: its main process is a warden, and each session has
/// one of its own beside it, so shells, programs and files behave as on the host.
#pragma once

#include "bawn/container/engine.hpp"
#include "bawn/container/place_spec.hpp"
#include "bawn/contract/confinement.hpp"
#include "bawn/sandbox/inside.hpp"
#include "bawn/shell/session.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bawn::container {

class PlaceDirectory;
struct HeldMount;
struct Visitor;

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
  /// name is taken), Unsupported (the engine is another machine's, or the warden cannot run
  /// there), Closed (the engine does not answer or refused; its own words follow).
  /// Blocking: as long as the engine takes, a second as a rule, 60 s at most; a context that ends
  /// removes what was begun.
  static Result<std::shared_ptr<Place>> open(const contract::Context& context, PlaceSpec spec,
                                             PlaceSetup setup);

  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// One more session inside. Of `config` the name, the limits and the spool count.
  ///
  /// Errors: as shell::Session::start(); Closed when the container is gone.
  [[nodiscard]] Result<std::shared_ptr<shell::Session>> start_session(shell::SessionConfig config);

  [[nodiscard]] const PlaceSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const PlaceFacts& facts() const noexcept { return facts_; }
  /// "podman 4.3.1", "podman 4.3.1 (rootless)".
  [[nodiscard]] const std::string& engine_version() const noexcept { return engine_version_; }
  /// Data of the record.
  [[nodiscard]] const Json& handle() const noexcept { return handle_; }
  /// What a session in here will be held by; `confirmed` is false until it runs.
  [[nodiscard]] const contract::Confinement& forecast() const noexcept { return forecast_; }
  /// False once the container is gone, whoever ended it.
  [[nodiscard]] bool alive() const noexcept;

  /// Ends everything inside and removes the container and the place's directory. Idempotent.
  ///
  /// Errors: Closed when the engine cannot be asked whether the container is gone.
  /// Blocking: as long as the engine takes, below a second as a rule.
  Result<> close(const contract::Context& context);

 private:
  Place();
  Result<> start_container(const contract::Context& context);
  Result<> take_over(const contract::Context& context, Visitor visitor);
  /// Closes the container's input and collects the engine's command.
  void end_engine() noexcept;
  /// What the image says about its environment, and a first plan.
  Result<> learn(const contract::Context& context);
  [[nodiscard]] sandbox::Inside inside(std::string session_dir) const;
  /// Tries all layers, then without those that cannot be had in there.
  Result<std::shared_ptr<sandbox::Warden>> start_warden(const std::string& session_dir);
  /// The engine's complaint as one sentence of ours.
  Error explain(const contract::Context& context, const std::string& complaint);

  PlaceSpec spec_;
  PlaceSetup setup_;
  std::string engine_version_;
  std::string warden_program_;
  std::string id_;
  std::unique_ptr<PlaceDirectory> directory_;
  std::vector<HeldMount> mounts_;
  os::UniqueFd errors_;  ///< what the engine's command complains about
  os::Pidfd engine_;     ///< its command, our child
  os::UniqueFd life_;    ///< the container's standard input: its end is the container's
  Json handle_;
  PlaceFacts facts_;
  std::string home_;
  std::vector<std::string> environment_;
  contract::Confinement forecast_;
  std::shared_ptr<sandbox::Warden> main_;
  std::mutex closing_;
  bool started_ = false;
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
