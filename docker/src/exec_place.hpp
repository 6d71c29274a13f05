/// \file
/// Sessions in a container that bawn's warden cannot run in: each call is one exec of the engine.
/// Weaker in every way, and said so.
#pragma once

#include "bawn/container/place.hpp"
#include "exec_control.hpp"

#include <memory>
#include <string>

namespace bawn::container {

/// What such a session is held by: the container alone. `ours`: it was made for this place, and
/// goes with it. Pure.
[[nodiscard]] contract::Confinement exec_report(const PlaceFacts& facts,
                                                const sandbox::Inside& inside, bool ours,
                                                const std::string& why);

/// Whether a policy's guarantees hold there. Errors: Unsupported, naming those that do not.
[[nodiscard]] Result<> check_guarantees(const contract::Confinement& report,
                                        const PlaceBounds& bounds, const std::string& why);

/// Of `config` as Place::start_session().
///
/// Errors: those of ExecControl::start() and shell::Session::start_bare().
[[nodiscard]] Result<std::shared_ptr<shell::Session>> start_exec_session(
    shell::SessionConfig config, const ExecRoute& route, contract::Confinement report,
    const std::string& name, std::vector<std::string> environment);

}  // namespace bawn::container
