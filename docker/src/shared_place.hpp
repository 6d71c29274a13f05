/// \file
/// A container on this machine, whose engine sees our files: the warden's program and a directory
/// are mounted, and descriptors pass through a socket in that.
#pragma once

#include "bawn/container/place.hpp"
#include "engine_command.hpp"
#include "mounts.hpp"
#include "place_directory.hpp"
#include "waiting_room.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::container {

class SharedPlace final : public Place {
 public:
  SharedPlace(PlaceSpec spec, PlaceSetup setup) : Place(std::move(spec), std::move(setup)) {}
  ~SharedPlace() override { (void)close(contract::Context()); }

  /// What Place::open() does; whoever calls it closes after an error.
  Result<> start(const contract::Context& context);

  [[nodiscard]] Result<std::shared_ptr<shell::Session>> start_session(
      shell::SessionConfig config) override;
  [[nodiscard]] bool alive() const noexcept override { return main_ != nullptr && main_->alive(); }

 protected:
  Result<> end(const contract::Context& context) override;

 private:
  Result<> run_engine(const contract::Context& context);
  Result<> take_over(const contract::Context& context, Visitor visitor);

  std::unique_ptr<PlaceDirectory> directory_;
  std::vector<HeldMount> mounts_;
  EngineCommand command_;  ///< its end is the container's
  std::shared_ptr<sandbox::Warden> main_;
  bool started_ = false;
};

}  // namespace bawn::container
