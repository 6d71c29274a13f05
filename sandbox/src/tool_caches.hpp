/// \file
/// Where build tools keep what they downloaded and built, and which of that a session may use.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <string>
#include <vector>

namespace bawn::sandbox {

/// A variable that leads tools to a cache.
struct ToolCache {
  enum class Kind {
    Private,   ///< below the session's temporary directory; set by bawn
    ReadOnly,  ///< the user's own, which the session reads and cannot change
    Shared,    ///< the user's own, writable by the policy: programs outside will use what is put
               ///< there
  };
  std::string variable;
  Kind kind = Kind::Private;
  std::string value;  ///< what the variable is set to; empty = bawn sets nothing
};

/// What a cache only keeps to save time is private. What holds sources that a build needs stays the
/// user's own where the session has no network to get them from, and is private where it has.
[[nodiscard]] std::vector<ToolCache> tool_caches(const Policy& policy, const SessionPlan& plan);

/// The same for people, one sentence a kind; for the report.
[[nodiscard]] std::vector<std::string> describe_caches(const std::vector<ToolCache>& caches);

}  // namespace bawn::sandbox
