#include "http/front.hpp"

#include "bawn/contract/call_context.hpp"

#include <fmt/format.h>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bawn::mcp {
namespace {

using Clock = std::chrono::steady_clock;

std::string random_id() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return {};
  }
  std::string id;
  for (const unsigned char byte : random) {
    id += fmt::format("{:02x}", byte);
  }
  return id;
}

}  // namespace

HttpFront::HttpFront(std::shared_ptr<const Core> server, const HttpOptions& given)
    : core(std::move(server)),
      options(given),
      workers(std::make_shared<WorkerPool>(core->options.max_parallel_calls,
                                           core->options.max_queued_calls)) {}

contract::Context HttpFront::context_of(const std::string& account) const {
  return contract::with_caller(options.context, contract::Caller{.account = account});
}

HttpSessionPtr HttpFront::make_session(const std::string& account) const {
  auto session = std::make_shared<HttpSession>();
  session->id = random_id();
  if (session->id.empty()) {
    return nullptr;
  }
  session->account = account;
  session->outlet = std::make_shared<SessionOutlet>();
  session->peer =
      std::make_shared<Peer>(contract::with_session(context_of(account), session->id),
                             session->outlet, PeerTraits{.principal = account, .can_ask = true});
  session->dispatcher = std::make_shared<Dispatcher>(core, session->peer);
  session->used = Clock::now();
  return session;
}

bool HttpFront::make_room() {
  forget_idle();
  if (sessions_.size() < options.max_sessions) {
    return true;
  }
  std::map<std::string, std::size_t> held;
  for (const auto& [id, session] : sessions_) {
    ++held[session->account];
  }
  // Nobody drives out another's sessions by opening many.
  HttpSessionPtr going;
  for (const auto& [id, session] : sessions_) {
    const auto before = [&] {
      const std::size_t mine = held[session->account];
      const std::size_t other = held[going->account];
      return mine != other ? mine > other : session->used < going->used;
    };
    if (!session->peer->has_live() && (going == nullptr || before())) {
      going = session;
    }
  }
  if (going == nullptr) {
    return false;
  }
  end(going);
  return true;
}

void HttpFront::add(const HttpSessionPtr& session) {
  sessions_.emplace(session->id, session);
}

HttpSessionPtr HttpFront::find(const std::string& id, const std::string& account) {
  forget_idle();
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->account != account) {
    return nullptr;
  }
  found->second->used = Clock::now();
  return found->second;
}

void HttpFront::end(const HttpSessionPtr& session) {
  session->peer->cancel_all();
  session->outlet->attach(nullptr);
  sessions_.erase(session->id);
}

void HttpFront::end_streams() {
  for (const auto& [id, session] : sessions_) {
    session->outlet->attach(nullptr);
  }
}

void HttpFront::renew_tokens() {
  if (!options.changed_tokens) {
    return;
  }
  auto changed = options.changed_tokens();
  if (!changed) {
    core->log.warn(changed.error().message() + "; the tokens that it had are still good");
    return;
  }
  if (!*changed || (*changed)->empty()) {
    return;  // without any the server would be open to all
  }
  options.tokens = std::move(**changed);
  std::vector<HttpSessionPtr> orphans;
  for (const auto& [id, session] : sessions_) {
    if (std::ranges::find(options.tokens, session->account, &BearerToken::account) ==
        options.tokens.end()) {
      orphans.push_back(session);
    }
  }
  for (const HttpSessionPtr& session : orphans) {
    end(session);
  }
}

void HttpFront::forget_idle() {
  const auto oldest = Clock::now() - options.session_idle;
  std::vector<HttpSessionPtr> idle;
  for (const auto& [id, session] : sessions_) {
    if (session->used < oldest && !session->peer->has_live()) {
      idle.push_back(session);
    }
  }
  for (const HttpSessionPtr& session : idle) {
    end(session);
  }
}

void HttpFront::track(const std::shared_ptr<Peer>& peer) {
  std::erase_if(peers_, [](const std::weak_ptr<Peer>& one) { return one.expired(); });
  peers_.push_back(peer);
}

std::vector<std::shared_ptr<Peer>> HttpFront::peers() const {
  std::vector<std::shared_ptr<Peer>> all;
  for (const std::weak_ptr<Peer>& one : peers_) {
    if (auto peer = one.lock()) {
      all.push_back(std::move(peer));
    }
  }
  for (const auto& [id, session] : sessions_) {
    all.push_back(session->peer);
  }
  return all;
}

}  // namespace bawn::mcp
