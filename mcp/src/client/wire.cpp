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

// Of lines that the server has not read yet.
constexpr std::size_t kMostWaiting = std::size_t{8} << 20U;

void add_one(int event_fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_fd, &one, sizeof one);
}

UniqueFd duplicate(int fd) {
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

Result<std::shared_ptr<Channel>> Wire::open(int from_server, int to_server,
                                            const ClientOptions& options, OnNotification notify) {
  UniqueFd in = duplicate(from_server);
  UniqueFd out = duplicate(to_server);
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!in || !out || !stop || !wake) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "the server's pipes"));
  }
  const std::shared_ptr<Wire> wire(new Wire(std::move(in), std::move(out), std::move(stop),
                                            std::move(wake), options, std::move(notify)));
  try {
    wire->reader_ = std::thread([raw = wire.get()] { raw->read_all(); });
  } catch (const std::system_error&) {
    return fail(ErrorCode::ResourceExhausted, "no thread could be started");
  }
  return wire;
}

Wire::Wire(UniqueFd in, UniqueFd out, UniqueFd stop, UniqueFd wake, const ClientOptions& options,
           OnNotification notify)
    : in_(std::move(in)),
      out_(std::make_unique<LineWriter>(std::move(out), kMostWaiting)),
      stop_(std::move(stop)),
      wake_(std::move(wake)),
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
  add_one(stop_.get());
  changed_.notify_all();
  // The server's end of input.
  const std::scoped_lock lock(write_mutex_);
  out_.reset();
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
  if (!sent && sent.error().code() == ErrorCode::ResourceExhausted) {
    const std::scoped_lock lock(mutex_);
    pending_.erase(id);
    return std::unexpected(sent.error());
  }
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
  const std::scoped_lock lock(write_mutex_);
  if (out_ == nullptr) {
    return fail(ErrorCode::Closed, kClosed);
  }
  if (out_->full()) {
    return fail(ErrorCode::ResourceExhausted, "mcp: the server does not read what it is sent");
  }
  switch (out_->send(std::move(line))) {
    case LineWriter::State::Broken:
      return fail(ErrorCode::Closed, kClosed);
    case LineWriter::State::Waiting:
      add_one(wake_.get());
      return {};
    case LineWriter::State::Clear:
      return {};
  }
  return {};
}

int Wire::waiting_output() {
  const std::scoped_lock lock(write_mutex_);
  return out_ != nullptr && !out_->clear() ? out_->fd() : -1;
}

void Wire::flush_output() {
  const std::scoped_lock lock(write_mutex_);
  if (out_ != nullptr) {
    static_cast<void>(out_->flush());
  }
}

bool Wire::forgive(std::string_view what) {
  constexpr std::size_t kMost = 100;
  if (++nonsense_ > kMost) {
    log("the server prints what is no message, again and again: the connection is closed");
    return false;
  }
  log(what);
  return true;
}

void Wire::read_all() {
  LineReader reader(options_.max_line_bytes);
  bool reading = true;
  while (reading) {
    std::array<pollfd, 4> entries = {
        pollfd{.fd = in_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = waiting_output(), .events = POLLOUT, .revents = 0}};
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) {
      break;
    }
    if (entries[1].revents != 0) {
      break;
    }
    std::uint64_t count = 0;
    [[maybe_unused]] const auto cleared = ::read(wake_.get(), &count, sizeof count);
    if (entries[3].revents != 0) {
      flush_output();
    }
    if (entries[0].revents == 0) {
      continue;
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
      reading = line->too_long
                    ? forgive("the server sent a message that is too long; it was skipped")
                    : accept(line->text);
      if (!reading) {
        break;
      }
    }
  }
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool Wire::accept(std::string_view line) {
  const auto message = contract::parse_json(line);
  if (!message || !message->is_object()) {
    return forgive("the server printed a line that is no message; it was skipped");
  }
  if (message->contains("method")) {
    accept_request(*message);
  } else {
    accept_answer(*message);
  }
  return true;
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
    constexpr std::size_t kMostSigns = 64;
    if (found != pending_.end() && found->second->progress.size() < kMostSigns) {
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
    constexpr std::size_t kMostQuestions = 16;
    if (asking.size() == 1 && asking.front()->questions.size() < kMostQuestions) {
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
