/// \file
/// The container tools over the contract, and the argument `place` of all others.
#pragma once

#include "bawn/container/place_pool.hpp"
#include "bawn/contract/tool.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::container {

/// container_open and container_close over `pool`, which they keep alive.
[[nodiscard]] std::vector<contract::ToolPtr> make_container_tools(std::shared_ptr<PlacePool> pool);

/// `inner`, a tool with an argument `session`, with one more argument `place`: the call then acts
/// in that open container. A call without it reaches `inner` byte for byte.
///
/// Errors: InvalidArgument when `inner` takes no arguments by a schema of an object.
[[nodiscard]] Result<contract::ToolPtr> with_place(contract::ToolPtr inner);

}  // namespace bawn::container
