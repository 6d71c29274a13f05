/// \file
/// What the shell's tools share: whose session a call means, and how a result is put together.
#pragma once

#include "bawn/contract/make_tool.hpp"
#include "bawn/shell/session_pool.hpp"
#include "bawn/shell/tools.hpp"
#include "tool_result.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

/// Threads: thread-safe.
class ToolSupport {
 public:
  ToolSupport(std::shared_ptr<SessionPool> pool, ToolOptions options);

  [[nodiscard]] const ToolOptions& options() const noexcept { return options_; }
  [[nodiscard]] SessionPool& pool() const noexcept { return *pool_; }

  /// The pool's key for the name that a caller used: the same name of two clients is two sessions.
  ///
  /// Errors: InvalidArgument when a name is needed or is none.
  [[nodiscard]] Result<std::string> key(const contract::Context& context,
                                        const std::optional<std::string>& name) const;
  /// The session, started when there is none.
  [[nodiscard]] Result<std::shared_ptr<Session>> session(
      const contract::Context& context, const std::optional<std::string>& name) const;
  /// The session if it runs. Errors: NotFound.
  [[nodiscard]] Result<std::shared_ptr<Session>> running(
      const contract::Context& context, const std::optional<std::string>& name) const;

  /// Text, structure and confinement of a call. `name` as the caller wrote it.
  [[nodiscard]] contract::Outcome outcome(const Session& session,
                                          const std::optional<std::string>& name,
                                          CallResult result) const;
  /// The same without the text and structure being made.
  [[nodiscard]] std::vector<Denial> denials(const Session& session, const CallResult& result) const;

  /// The `resources` property of a call in a session's shell, which takes one at a time: that
  /// shell. Other sessions are not waited for.
  [[nodiscard]] std::vector<std::string> shell_of(const contract::Context& context,
                                                  std::string_view args) const;
  /// The `confined` property: the report of the session that the arguments name, or the forecast.
  [[nodiscard]] contract::Confinement confined(const contract::Context& context,
                                               std::string_view args) const;

 private:
  std::shared_ptr<SessionPool> pool_;
  ToolOptions options_;
};

using SupportPtr = std::shared_ptr<const ToolSupport>;

/// What all of the shell's tools have: these hints, the session's report as `confined`, and no
/// argument that is not described.
[[nodiscard]] contract::ToolOptions tool_options(const SupportPtr& support,
                                                 contract::Annotations annotations);

[[nodiscard]] Result<contract::ToolPtr> make_bash_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_output_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_input_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_kill_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_restart_tool(const SupportPtr& support);
[[nodiscard]] Result<contract::ToolPtr> make_exec_tool(const SupportPtr& support);

/// An argument that the session refused, in the words that begin every refusal of arguments.
[[nodiscard]] inline Error refusal(const Error& error) {
  const bool said = error.message().starts_with("invalid arguments:");
  return error.code() == ErrorCode::InvalidArgument && !said ? error.wrap("invalid arguments")
                                                             : error;
}

/// Milliseconds of an argument; the schema's bounds hold already.
[[nodiscard]] inline std::optional<Milliseconds> milliseconds_of(std::optional<int> value) {
  return value ? std::optional(Milliseconds(*value)) : std::nullopt;
}

}  // namespace bawn::shell
