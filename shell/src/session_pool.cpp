#include "bawn/shell/session_pool.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/sandbox/wall.hpp"
#include "random_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {

/// Who is on the other side, as far as the front tells; empty on stdio, where it is one process.
std::string client_of(const contract::Context& context) {
  std::string client;
  if (const std::string* session = contract::session_from(context)) {
    client = *session;
  }
  if (const contract::Caller* caller = contract::caller_from(context)) {
    client += fmt::format("\n{}\n{}", caller->account, caller->client_id);
  }
  return client;
}

bool is_plain_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.front() != '-' &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

/// The name as it stands in a key: its part is not longer than this.
std::string shortened(std::string_view name) {
  constexpr std::size_t kLongest = 48;
  return std::string(name.substr(0, kLongest));
}

}  // namespace

Result<> check_session_name(const std::string& name) {
  const std::string_view whole = name;
  const std::size_t at = whole.find('@');
  if (!is_plain_name(whole.substr(0, at)) ||
      (at != std::string_view::npos && !is_plain_name(whole.substr(at + 1)))) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "a session's name has 1 to 64 letters, digits, '.', '_' or '-' and does "
                          "not begin with '.' or '-'");
  }
  return {};
}

namespace {

template <class What>
class AtEnd {
 public:
  explicit AtEnd(What what) : what_(std::move(what)) {}
  ~AtEnd() { what_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  What what_;
};

SessionConfig with_spool(SessionConfig config, const PoolLimits& limits) {
  config.spool = std::make_shared<SpoolBudget>(limits.spool_bytes);
  return config;
}

}  // namespace

SessionPool::SessionPool(SessionConfig config, const PoolLimits& limits)
    : config_(with_spool(std::move(config), limits)), limits_(limits) {}

SessionPool::SessionPool(SessionConfig config, std::size_t sessions)
    : SessionPool(std::move(config), PoolLimits{.sessions = sessions}) {}

SessionPool::~SessionPool() {
  close_all();
}

Result<std::shared_ptr<Session>> SessionPool::start(SessionConfig config) {
  return Session::start(std::move(config));
}

std::vector<std::shared_ptr<Session>> SessionPool::take_expired() {
  std::vector<std::shared_ptr<Session>> expired;
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto idle = it->second->idle_for();
    if (!it->second->alive() || (limits_.idle.count() > 0 && idle && *idle >= limits_.idle)) {
      expired.push_back(std::move(it->second));
      it = sessions_.erase(it);
    } else {
      ++it;
    }
  }
  return expired;
}

Result<std::shared_ptr<Session>> SessionPool::find_or_reserve(const std::string& name) {
  std::vector<std::shared_ptr<Session>> expired;  // end behind the lock: that takes a while
  std::unique_lock lock(mutex_);
  started_.wait(lock, [&] { return !starting_.contains(name); });
  if (closed_) {
    return contract::fail(ErrorCode::Closed, "the server is closing");
  }
  expired = take_expired();
  if (const auto found = sessions_.find(name); found != sessions_.end()) {
    auto session = found->second;
    lock.unlock();
    return session;
  }
  if (sessions_.size() + starting_.size() >= limits_.sessions) {
    lock.unlock();
    return contract::fail(
        ErrorCode::ResourceExhausted,
        fmt::format("{} sessions are open, which is the limit; use one of them, or close one with "
                    "bash_restart and close",
                    limits_.sessions));
  }
  starting_.insert(name);
  lock.unlock();
  return std::shared_ptr<Session>();
}

Result<std::shared_ptr<Session>> SessionPool::get(const std::string& name) {
  BAWN_TRY(check_session_name(name));
  if (auto found = BAWN_TRY(find_or_reserve(name))) {
    return found;
  }
  // Also where there is no memory to start it: others wait for the name.
  const AtEnd reserved([&] {
    const std::lock_guard lock(mutex_);
    starting_.erase(name);
    started_.notify_all();
  });
  SessionConfig config = config_;
  config.name = name;
  auto session = start(std::move(config));
  bool closed = false;
  {
    const std::lock_guard lock(mutex_);
    closed = closed_;
    if (session && !closed) {
      sessions_[name] = *session;
    }
  }
  if (session && closed) {
    (*session)->close();
    return contract::fail(ErrorCode::Closed, "the server is closing");
  }
  return session;
}

Result<std::shared_ptr<Session>> SessionPool::start_apart(sandbox::Policy policy) {
  constexpr std::size_t kMaxApart = 4;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return contract::fail(ErrorCode::Closed, "the server is closing");
    }
    std::erase_if(apart_, [](const auto& session) { return session.expired(); });
    if (apart_.size() + starting_apart_ >= kMaxApart) {
      return contract::fail(
          ErrorCode::ResourceExhausted,
          fmt::format("{} calls with walls of their own run already, which is the limit; try again "
                      "when one has ended",
                      kMaxApart));
    }
    ++starting_apart_;
  }
  const AtEnd reserved([&] {
    const std::lock_guard lock(mutex_);
    --starting_apart_;
    started_.notify_all();
  });
  SessionConfig config = config_;
  config.name = "once";
  config.policy = std::move(policy);
  auto session = start(std::move(config));
  const std::lock_guard lock(mutex_);
  if (session && closed_) {
    return contract::fail(ErrorCode::Closed, "the server is closing");
  }
  if (session) {
    apart_.push_back(*session);
  }
  return session;
}

std::shared_ptr<Session> SessionPool::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(name);
  return found == sessions_.end() || !found->second->alive() ? nullptr : found->second;
}

Result<std::string> SessionPool::key_of(const contract::Context& context,
                                        const std::optional<std::string>& name,
                                        const std::string& fallback) const {
  // A caller without a session of its own has no connection that a default could belong to.
  const bool unbound =
      contract::session_from(context) == nullptr && contract::caller_from(context) != nullptr;
  const std::string wanted = name.value_or(unbound ? std::string() : fallback);
  if (wanted.empty() && !name) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "invalid arguments: this server has no default session: name one with "
                          "\"session\"");
  }
  BAWN_TRY(check_session_name(wanted));
  const std::string client = client_of(context);
  if (client.empty()) {
    return wanted;
  }
  const std::lock_guard lock(mutex_);
  std::string& part = clients_[client];
  if (part.empty()) {
    part = random_name(12);
  }
  // Names end before the '.', so that no name of one client can be the key of another.
  const std::size_t at = wanted.find('@');
  const std::string place =
      at == std::string::npos ? std::string() : "@" + shortened(wanted.substr(at + 1));
  return shortened(std::string_view(wanted).substr(0, at)) + place + "." + part;
}

std::vector<std::string> SessionPool::names_of(const contract::Context& context) const {
  const std::string client = client_of(context);
  const std::lock_guard lock(mutex_);
  const auto part = clients_.find(client);
  std::vector<std::string> names;
  for (const auto& [name, session] : sessions_) {
    if (client.empty() || (part != clients_.end() && name.ends_with("." + part->second))) {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> SessionPool::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, session] : sessions_) {
    names.push_back(name);
  }
  return names;
}

void SessionPool::close(const std::string& name) {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = sessions_.find(name); found != sessions_.end()) {
      session = std::move(found->second);
      sessions_.erase(found);
    }
  }
  if (session != nullptr) {
    session->close();
  }
}

void SessionPool::close_all() {
  std::map<std::string, std::shared_ptr<Session>> sessions;
  std::vector<std::weak_ptr<Session>> apart;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    sessions.swap(sessions_);
    started_.wait(lock, [&] { return starting_.empty() && starting_apart_ == 0; });
    apart.swap(apart_);
  }
  for (const auto& one : apart) {
    if (const auto session = one.lock()) {
      session->close();
    }
  }
  for (const auto& [name, session] : sessions) {
    session->close();
  }
}

std::string SessionPool::workspace_of(const std::string& /*name*/) const {
  return config_.workspace;
}

contract::Confinement SessionPool::confinement(const std::string& name) const {
  if (const auto session = find(name)) {
    return session->confinement();
  }
  const std::lock_guard lock(mutex_);
  if (!forecast_) {
    auto plan = sandbox::forecast_wall({.policy = config_.policy,
                                        .workspace = config_.workspace,
                                        .session_dir = {},
                                        .warden = config_.warden});
    if (!plan) {
      contract::Confinement none;
      none.policy = config_.policy.name;
      none.notes.push_back(plan.error().message());
      return none;
    }
    forecast_ = std::move(plan->forecast);
  }
  return *forecast_;
}

}  // namespace bawn::shell
