/// \file
/// Where file tools act: a session, as far as they need one. Whoever offers the tools implements
/// it, so that this library knows no shell and no container.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/sandbox/file_agent.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/warden.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::files {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

/// One running session.
struct Place {
  std::string key;   ///< identifies the session among all of this server's
  std::string name;  ///< as its caller calls it
  std::shared_ptr<sandbox::FileAgent> files;
  /// Starts `rg` inside; null where nothing can be started: searching then goes through `files`.
  std::shared_ptr<sandbox::Warden> warden;
  std::string workspace;                 ///< absolute inside path; relative paths start here
  std::string home;                      ///< what "~/" means
  std::vector<std::string> environment;  ///< of programs started inside; PATH finds rg
  sandbox::Policy policy;
  contract::Confinement confinement;  ///< what was confirmed
};

/// The sessions of a server. Threads: thread-safe.
class Places {
 public:
  virtual ~Places() = default;
  /// The session that a call means, started when there is none.
  ///
  /// `name` is the call's `session` argument. Errors: InvalidArgument for a name that is none or is
  /// missing; those of starting a session.
  [[nodiscard]] virtual Result<Place> place(const contract::Context& context,
                                            const std::optional<std::string>& name) = 0;
  /// The report of that session, or before it runs the forecast.
  [[nodiscard]] virtual contract::Confinement confinement(
      const contract::Context& context, const std::optional<std::string>& name) const = 0;
  /// The workspace that relative paths of that session start at; known before it runs.
  [[nodiscard]] virtual std::string workspace(const contract::Context& context,
                                              const std::optional<std::string>& name) const = 0;
};

}  // namespace bawn::files
