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

/// Starts sessions when they are first named and keeps them until they are closed.
///
/// Threads: thread-safe. Starting one session does not block the others.
class SessionPool {
 public:
  /// `config.name` is ignored; at most `max_sessions` live at a time.
  SessionPool(SessionConfig config, std::size_t max_sessions = 8);
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
  /// Ends one session. No error when there is none.
  void close(const std::string& name);
  /// Ends all and refuses new ones.
  void close_all();

  /// The report of that session, or before it runs the forecast (`confirmed` false).
  [[nodiscard]] virtual contract::Confinement confinement(const std::string& name) const;

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

  [[nodiscard]] const SessionConfig& config() const noexcept { return config_; }

 protected:
  /// How a session is started; a test puts its own in.
  [[nodiscard]] virtual Result<std::shared_ptr<Session>> start(SessionConfig config);

 private:
  const SessionConfig config_;
  const std::size_t max_sessions_;
  mutable std::mutex mutex_;
  std::condition_variable started_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::set<std::string> starting_;
  bool closed_ = false;
  mutable std::optional<contract::Confinement> forecast_;
  mutable std::map<std::string, std::string> clients_;  ///< client -> its part of the keys
};

/// 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'.
[[nodiscard]] Result<> check_session_name(const std::string& name);

}  // namespace bawn::shell
