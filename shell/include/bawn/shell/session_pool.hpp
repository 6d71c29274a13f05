/// \file
/// The sessions of one server, by name.
#pragma once

#include "bawn/shell/session.hpp"

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bawn::shell {

/// Bounds of a server's sessions together.
struct PoolLimits {
  std::size_t sessions = 8;
  /// A session that has run no call for so long, and whose place is needed or which is asked about,
  /// is closed with all its background jobs; 0 = never.
  Milliseconds idle{0};
  std::uint64_t spool_bytes = std::uint64_t{4} << 30U;  ///< output on disk, all sessions together
};

/// Starts sessions when they are first named and keeps them until they are closed.
///
/// Threads: thread-safe. Starting one session does not block the others.
class SessionPool {
 public:
  /// `config.name` is ignored, and `config.spool` set to what `limits` say.
  explicit SessionPool(SessionConfig config, const PoolLimits& limits = {});
  SessionPool(SessionConfig config, std::size_t sessions);
  virtual ~SessionPool();
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  /// The session of that name, started when there is none or its wall is gone.
  ///
  /// Errors: InvalidArgument (a bad name), ResourceExhausted (too many), Closed, and
  /// Session::start's.
  [[nodiscard]] Result<std::shared_ptr<Session>> get(const std::string& name);
  /// The session of that name if it runs, else null.
  [[nodiscard]] std::shared_ptr<Session> find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// Starts a session that is in nobody's list, under another policy: for one call, whose caller
  /// closes it. At most four at a time.
  ///
  /// Errors: ResourceExhausted, Closed, and Session::start's.
  [[nodiscard]] Result<std::shared_ptr<Session>> start_apart(sandbox::Policy policy);
  /// Ends one session. No error when there is none.
  void close(const std::string& name);
  /// Ends all and refuses new ones.
  void close_all();

  /// The report of that session, or before it runs the forecast (`confirmed` false).
  [[nodiscard]] virtual contract::Confinement confinement(const std::string& name) const;

  /// Where relative paths of that session start; known before it runs.
  [[nodiscard]] virtual std::string workspace_of(const std::string& name) const;

  /// The pool's name for the session that a caller calls `name`: the same name of two clients is
  /// two sessions. Who the client is stands on the context. `fallback` is meant where `name` is
  /// absent.
  ///
  /// Errors: InvalidArgument when a name is needed or is none.
  [[nodiscard]] Result<std::string> key_of(const contract::Context& context,
                                           const std::optional<std::string>& name,
                                           const std::string& fallback) const;

  /// The keys of the sessions of the client on the context; on stdio all are its.
  [[nodiscard]] std::vector<std::string> names_of(const contract::Context& context) const;

  [[nodiscard]] const PoolLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] const SessionConfig& config() const noexcept { return config_; }

 protected:
  /// How a session is started; a test puts its own in.
  [[nodiscard]] virtual Result<std::shared_ptr<Session>> start(SessionConfig config);

 private:
  const SessionConfig config_;
  /// Takes sessions that are dead or idle for too long out of the map. With the lock; the caller
  /// lets them end after it.
  std::vector<std::shared_ptr<Session>> take_expired();
  /// Reserves the place of `name`, or finds who has it.
  Result<std::shared_ptr<Session>> find_or_reserve(const std::string& name);

  const PoolLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable started_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::set<std::string> starting_;
  std::vector<std::weak_ptr<Session>> apart_;
  std::size_t starting_apart_ = 0;
  bool closed_ = false;
  mutable std::optional<contract::Confinement> forecast_;
  mutable std::map<std::string, std::string> clients_;  ///< client -> its part of the keys
};

/// 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'; for a session that is
/// not on the host itself '@' and the place's name behind it, which follows the same rule.
[[nodiscard]] Result<> check_session_name(const std::string& name);

}  // namespace bawn::shell
