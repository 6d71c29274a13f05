#include "client/wire.hpp"

#include "bawn/contract/outcome_class.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

UniqueFd duplicate(int fd) {
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

Result<std::shared_ptr<Channel>> Wire::open(int from_server, int to_server,
                                            const ClientOptions& options, OnNotification notify) {
  UniqueFd in = duplicate(from_server);
  UniqueFd out = duplicate(to_server);
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!in || !out || !stop) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "the server's pipes"));
  }
  const std::shared_ptr<Wire> wire(
      new Wire(std::move(in), std::move(out), std::move(stop), options, std::move(notify)));
  try {
    wire->reader_ = std::thread([raw = wire.get()] { raw->read_all(); });
  } catch (const std::system_error&) {
    return fail(ErrorCode::ResourceExhausted, "no thread could be started");
  }
  return wire;
}

Wire::Wire(UniqueFd in, UniqueFd out, UniqueFd stop, const ClientOptions& options,
           OnNotification notify)
    : in_(std::move(in)),
      out_(std::move(out)),
      stop_(std::move(stop)),
      options_(options),
      notify_(std::move(notify)) {}

Wire::~Wire() {
  close();
  if (reader_.joinable()) {
    reader_.join();
  }
}

void Wire::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  changed_.notify_all();
  // The server's end of input. A writer that waits was just woken.
  const std::scoped_lock lock(write_mutex_);
  out_ = UniqueFd();
}

std::string Wire::next_id() {
  const std::scoped_lock lock(mutex_);
  return fmt::format("bawn-{}", ++last_);
}

Result<RemoteAnswer> Wire::ask(const contract::Context& context, const Request& request) {
  const std::string id = next_id();
  const auto pending = std::make_shared<Pending>();
  pending->takes_questions = bool{request.hooks.on_question};
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) {
      return fail(ErrorCode::Closed, kClosed);
    }
    pending_.emplace(id, pending);
  }
  const std::string line = fmt::format(R"({{"jsonrpc":"2.0","id":"{}","method":"{}","params":{}}})",
                                       id, request.method, request.params(id));
  const auto sent = write(line);
  const auto ready = [&] {
    return closed_ || pending->answer || !pending->progress.empty() || !pending->questions.empty();
  };
  std::unique_lock lock(mutex_);
  while (sent && !pending->answer && !closed_) {
    const bool woken =
        request.deadline ? changed_.wait_until(lock, context.stop_token(), *request.deadline, ready)
                         : changed_.wait(lock, context.stop_token(), ready);
    if (!woken) {
      break;
    }
    serve(pending, request.hooks, lock);
  }
  pending_.erase(id);
  if (pending->answer) {
    return *std::move(pending->answer);
  }
  const bool closed = closed_;
  lock.unlock();
  if (!sent || closed) {
    // A part of the request may have been sent in either case.
    return std::unexpected(contract::as_unknown_outcome(Error(ErrorCode::Closed, kClosed)));
  }
  const bool cancelled = context.cancelled();
  static_cast<void>(
      tell("notifications/cancelled",
           Json{{"requestId", id},
                {"reason", cancelled ? "the caller stopped it" : "it took too long"}}));
  return cancelled ? fail(ErrorCode::Cancelled, "the call was cancelled")
                   : fail(ErrorCode::DeadlineExceeded, "the server did not answer in time");
}

/// Deals with what came beside the answer, without the lock.
void Wire::serve(const PendingPtr& pending, const RequestHooks& hooks,
                 std::unique_lock<std::mutex>& lock) {
  auto progress = std::exchange(pending->progress, {});
  auto questions = std::exchange(pending->questions, {});
  if (progress.empty() && questions.empty()) {
    return;
  }
  lock.unlock();
  for (const Json& params : progress) {
    if (hooks.on_progress) {
      hooks.on_progress(params);
    }
  }
  for (const Json& question : questions) {
    answer(question["id"], hooks.on_question(question.value("params", Json::object())));
  }
  lock.lock();
}

Result<> Wire::tell(std::string_view method, const Json& params) {
  return write(notification_line(method, params));
}

Result<> Wire::write(std::string line) {
  line += '\n';
  const std::scoped_lock lock(write_mutex_);
  if (!out_) {
    return fail(ErrorCode::Closed, kClosed);
  }
  std::string_view rest = line;
  while (!rest.empty()) {
    // A server that does not read must not hold us when the connection is closed.
    std::array<pollfd, 2> entries = {pollfd{.fd = out_.get(), .events = POLLOUT, .revents = 0},
                                     pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) {
      return fail(ErrorCode::Closed, kClosed);
    }
    if (entries[1].revents != 0) {
      return fail(ErrorCode::Closed, kClosed);
    }
    if (entries[0].revents == 0) {
      continue;
    }
    // A pipe that is writable takes PIPE_BUF bytes without blocking.
    constexpr std::size_t kAtOnce = 4096;
    const ssize_t written = ::write(out_.get(), rest.data(), std::min(rest.size(), kAtOnce));
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      return fail(ErrorCode::Closed, kClosed);
    }
    rest.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return {};
}

void Wire::read_all() {
  LineReader reader(options_.max_line_bytes);
  while (true) {
    std::array<pollfd, 2> entries = {pollfd{.fd = in_.get(), .events = POLLIN, .revents = 0},
                                     pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) {
      break;
    }
    if (entries[1].revents != 0) {
      break;
    }
    const auto space = reader.prepare();
    const ssize_t got = ::read(in_.get(), space.data(), space.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    reader.commit(static_cast<std::size_t>(got));
    while (const auto line = reader.next()) {
      if (line->too_long) {
        log("the server sent a message that is too long; it was skipped");
      } else {
        accept(line->text);
      }
    }
  }
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void Wire::accept(std::string_view line) {
  const auto message = contract::parse_json(line);
  if (!message || !message->is_object()) {
    log("the server printed a line that is no message; it was skipped");
    return;
  }
  if (message->contains("method")) {
    accept_request(*message);
  } else {
    accept_answer(*message);
  }
}

void Wire::accept_answer(const Json& message) {
  const Json id = message.value("id", Json());
  if (!id.is_string()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(id.get<std::string>());
  if (found == pending_.end() || found->second->answer) {
    return;  // given up, or answered before
  }
  found->second->answer = answer_in(message);
  changed_.notify_all();
}

void Wire::accept_request(const Json& message) {
  const std::string method =
      message["method"].is_string() ? message["method"].get<std::string>() : "";
  const Json params = message.value("params", Json::object());
  if (method == "notifications/progress" && params.is_object()) {
    const Json token = params.value("progressToken", Json());
    const std::scoped_lock lock(mutex_);
    const auto found = token.is_string() ? pending_.find(token.get<std::string>()) : pending_.end();
    constexpr std::size_t kMostWaiting = 64;
    if (found != pending_.end() && found->second->progress.size() < kMostWaiting) {
      found->second->progress.push_back(params);
      changed_.notify_all();
    }
  } else if (!message.contains("id")) {
    notify_(method, params);
  } else if (method == "ping") {
    answer(message["id"], Json::object());
  } else if (method == "elicitation/create" && options_.elicitation) {
    // An older server does not say which call it asks for: only one can be meant.
    std::unique_lock lock(mutex_);
    std::vector<PendingPtr> asking;
    for (const auto& [id, pending] : pending_) {
      if (pending->takes_questions) {
        asking.push_back(pending);
      }
    }
    if (asking.size() == 1) {
      asking.front()->questions.push_back(message);
      changed_.notify_all();
      return;
    }
    lock.unlock();
    answer(message["id"], Json{{"action", "cancel"}});
  } else {
    refuse(message["id"]);
  }
}

void Wire::answer(const Json& id, const Json& result) {
  static_cast<void>(
      write(contract::dump_json(Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}})));
}

void Wire::refuse(const Json& id) {
  static_cast<void>(write(contract::dump_json(
      Json{{"jsonrpc", "2.0"},
           {"id", id},
           {"error", {{"code", -32601}, {"message", "this client does not offer that"}}}})));
}

void Wire::log(std::string_view line) const {
  if (options_.log) {
    options_.log(line);
  }
}

}  // namespace bawn::mcp
