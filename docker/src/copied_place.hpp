/// \file
/// A container whose engine does not see our files (another machine's), or that somebody else
/// started: the warden is copied in and speaks over the standard streams of one engine command.
#pragma once

#include "bawn/container/place.hpp"
#include "bawn/sandbox/relay.hpp"
#include "engine_command.hpp"
#include "exec_control.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::container {

class CopiedPlace final : public Place {
 public:
  CopiedPlace(PlaceSpec spec, PlaceSetup setup) : Place(std::move(spec), std::move(setup)) {}
  ~CopiedPlace() override { (void)close(contract::Context()); }

  /// What Place::open() does; whoever calls it closes after an error.
  Result<> start(const contract::Context& context);

  [[nodiscard]] Result<std::shared_ptr<shell::Session>> start_session(
      shell::SessionConfig config) override;
  [[nodiscard]] bool alive() const noexcept override {
    return relay_ != nullptr ? relay_->alive() : base_ != nullptr && base_->alive();
  }

 protected:
  Result<> end(const contract::Context& context) override;

 private:
  Result<> create(const contract::Context& context);
  Result<> join(const contract::Context& context);
  /// Starts a container anew whose main process is the image's own shell.
  Result<> hold(const contract::Context& context);
  /// Puts the warden into a running container and speaks with it.
  Result<> reach(const contract::Context& context);
  /// Where that cannot be: whether single execs of the engine work.
  Result<> fall_back(const contract::Context& context, const Error& refused);
  /// Puts the warden into a running container and leaves its path there in `copied_`.
  Result<> deliver(const contract::Context& context);
  [[nodiscard]] const std::string& container() const noexcept {
    return spec_.existing.empty() ? spec_.name : spec_.existing;
  }
  /// Starts the command that the relay speaks through, and hears its first word.
  Result<> connect(const contract::Context& context, std::vector<std::string> words);
  Result<> look(const contract::Context& context);
  [[nodiscard]] std::vector<std::string> exec_words() const;
  Result<std::string> ask(const contract::Context& context, std::vector<std::string> words,
                          const std::string& input = {});

  EngineCommand command_;
  std::shared_ptr<sandbox::Relay> relay_;
  ExecRoute route_;                    ///< of single execs
  std::shared_ptr<ExecControl> base_;  ///< where each call is one; lives as long as the container
  std::string copied_;                 ///< into somebody else's container; removed in the end
  bool created_ = false;               ///< the container is ours to remove
};

}  // namespace bawn::container
