/// \file
/// The tools that this program offers, over whichever front: wired once, for `bawn mcp` and
/// `bawn call`.
#pragma once

#include "bawn/container/place_pool.hpp"
#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/resource.hpp"
#include "bawn/contract/tool.hpp"
#include "limit_options.hpp"
#include "login_environment.hpp"
#include "policy_choice.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace bawn::cli {

/// Tools with what they live on. Nothing is started before the first call needs it.
struct OwnTools {
  std::shared_ptr<container::PlacePool> pool{};
  /// Makes them: their schemas cost more than all else at the start, and nobody may ask for them.
  std::function<contract::Result<std::vector<contract::ToolPtr>>()> tools{};
  std::shared_ptr<const contract::ResourceProvider> resources{};
  contract::Context context{};  ///< for every call: records go to the state directory
};

/// How long a session lives.
enum class SessionLife { AsItsServer, OneCall };

/// Ends what a dead server left, then wires the tools.
///
/// Errors: those of `choose_policy`; what of the wall cannot be had, now and not at the first call;
/// a workspace or a state directory that cannot be used.
[[nodiscard]] contract::Result<OwnTools> make_own_tools(
    const WallOptions& options, const LimitOptions& limits = {},
    LoginEnvironment login = LoginEnvironment::No, SessionLife life = SessionLife::AsItsServer);

}  // namespace bawn::cli
