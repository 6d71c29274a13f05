/// \file
/// Hand-made session plans, so that the warden is tested without the planner.
#pragma once

#include "bawn/sandbox/warden.hpp"

#include <string>

namespace bawn::test {

/// Nothing but the warden: no wall at all.
sandbox::SessionPlan bare_plan();

/// All namespaces, `/` read-only, `workspace` writable, fresh proc and dev, private /tmp, no
/// capabilities. Works for root (who becomes `uid` inside) and for an ordinary user.
sandbox::SessionPlan namespace_plan(const std::string& workspace, unsigned uid);

/// Landlock alone with the newest scopes: reads everywhere, writes below `workspace` only.
sandbox::SessionPlan landlock_plan(const std::string& workspace);

/// ThreadSanitizer's runtime does not survive a fork that the C library does not see.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kCanForkWarden = false;
#else
inline constexpr bool kCanForkWarden = true;
#endif

/// Starts a session; the calling test fails when it cannot.
std::shared_ptr<sandbox::Warden> start(const sandbox::SessionPlan& plan);

/// What one command did.
struct Ran {
  sandbox::ExitStatus status;
  std::string out;
  std::string err;
};

/// Spawns `argv`, lets it go, reads its output to the end and waits. Fails the test on an Error.
Ran run(sandbox::Warden& warden, std::vector<std::string> argv, const std::string& call = {});

/// The same for an order of one's own; its output and error are taken over.
Ran run(sandbox::Warden& warden, sandbox::SpawnSpec order);

/// A spec with a plain PATH and cwd "/".
sandbox::SpawnSpec spec(std::vector<std::string> argv);

}  // namespace bawn::test
