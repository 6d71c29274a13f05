/// \file
/// A warden behind a relay.
#pragma once

#include "relay_link.hpp"

#include <memory>

namespace bawn::sandbox {

/// Starts one. `relay` is kept as long as the warden.
///
/// Errors: as Relay::start.
[[nodiscard]] Result<std::shared_ptr<Warden>> start_relay_warden(
    std::shared_ptr<Relay> relay, const std::shared_ptr<RelayLink>& link, const SessionPlan& plan);

/// The session's number on its link; 0 when the warden is not behind that relay.
[[nodiscard]] std::uint32_t session_of(const Warden& warden, const RelayLink& link);

}  // namespace bawn::sandbox
