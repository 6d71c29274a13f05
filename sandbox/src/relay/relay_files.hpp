/// \file
/// The files of a session behind a relay.
#pragma once

#include "bawn/sandbox/file_agent.hpp"
#include "relay_link.hpp"

#include <memory>

namespace bawn::sandbox {

/// `warden` tells whether the session is lost.
///
/// Errors: InvalidArgument (more roots and protected names than fit).
[[nodiscard]] Result<std::shared_ptr<FileAgent>> make_relay_file_agent(
    std::shared_ptr<RelayLink> link, std::uint32_t session, std::shared_ptr<ChildState> warden,
    const FilePlan& plan);

}  // namespace bawn::sandbox
