#include "http/connection.hpp"

#include "bawn/contract/json.hpp"
#include "bawn/contract/lower_case.hpp"
#include "http/admission.hpp"
#include "http/request.hpp"
#include "raw_json.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace bawn::mcp {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::awaitable;
using Clock = std::chrono::steady_clock;
using Fields = HttpRequest;
using Reply = HttpReply;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

/// What a waiting request is woken by; outlives it, since threads of calls may still hold it.
struct Signal {
  explicit Signal(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  bool gone = false;
  bool unwatched = false;  ///< nobody waits any longer for the client's end
  /// Set by every wake-up: one that comes while the request writes must not be slept over.
  bool woken = false;

  void wake() {
    woken = true;
    timer.cancel();
  }
};

/// Also when the coroutine is dropped with the loop: threads of calls may hold the outlet longer.
struct Closing {
  std::shared_ptr<HttpOutlet> outlet;
  ~Closing() { outlet->close(); }
};

class Connection {
 public:
  Connection(HttpSocket socket, std::shared_ptr<HttpFront> front)
      : stream_(std::move(socket)),
        buffer_(front->options.max_header_bytes + kReadAhead),
        front_(std::move(front)) {}

  awaitable<void> run() {
    while (!front_->stopping && co_await next_request()) {
    }
    beast::error_code ignored;
    stream_.socket().shutdown(HttpSocket::shutdown_send, ignored);
    if (drain_) {
      co_await drain();
    }
  }

 private:
  using Outlets = std::shared_ptr<HttpOutlet>;

  /// Reads and answers one; false when the connection is over.
  awaitable<bool> next_request() {
    if (!co_await first_bytes()) {
      co_return false;
    }
    HttpParser parser;
    parser.header_limit(static_cast<std::uint32_t>(front_->options.max_header_bytes));
    parser.body_limit(front_->options.max_body_bytes);
    stream_.expires_after(front_->options.header_timeout);
    auto [failed, bytes] = co_await http::async_read_header(stream_, buffer_, parser, kToken);
    if (failed) {
      co_return co_await answer_broken(failed);
    }
    front_->renew_tokens();
    auto admitted = admit(parser, front_->options);
    if (!admitted) {
      co_return co_await refuse(std::move(admitted).error());
    }
    account_ = *std::move(admitted);
    if (parser.get().method() == http::verb::post && !co_await read_body(parser)) {
      co_return false;
    }
    if (front_->stopping) {
      co_return co_await refuse(refusal(http::status::service_unavailable, "the server is ending"));
    }
    ++front_->active;
    const bool go_on = co_await handle(parser.get());
    --front_->active;
    if (front_->on_change) {
      front_->on_change();
    }
    co_return go_on&& parser.get().keep_alive();
  }

  /// Also passes over empty lines, which some clients send behind a body (RFC 9112, 2.2).
  awaitable<bool> first_bytes() {
    constexpr std::size_t kFirst = 4096;
    constexpr std::string_view kLineEnd = "\r\n";
    // Who never said anything does not hold a place as long as a client between its requests.
    stream_.expires_after(std::exchange(fresh_, false) ? front_->options.header_timeout
                                                       : front_->options.idle_timeout);
    while (true) {
      while (waiting_bytes().starts_with(kLineEnd)) {
        buffer_.consume(kLineEnd.size());
      }
      if (!kLineEnd.starts_with(waiting_bytes())) {
        co_return true;
      }
      auto [failed, got] = co_await stream_.async_read_some(buffer_.prepare(kFirst), kToken);
      buffer_.commit(got);
      if (failed || got == 0) {
        co_return false;
      }
    }
  }

  [[nodiscard]] std::string_view waiting_bytes() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
  }

  awaitable<bool> answer_broken(beast::error_code failed) {
    if (failed == http::error::header_limit) {
      co_return co_await refuse(
          refusal(http::status::request_header_fields_too_large, "the headers are too large"));
    }
    if (failed == http::error::body_limit) {
      co_return co_await refuse(refusal(http::status::payload_too_large, "the body is too large"));
    }
    const bool ours = failed.category() == http::make_error_code(http::error::bad_value).category();
    if (ours && failed != http::error::end_of_stream && failed != http::error::partial_message) {
      co_return co_await refuse(refusal(http::status::bad_request, "this is not HTTP"));
    }
    co_return false;
  }

  awaitable<bool> read_body(HttpParser& parser) {
    stream_.expires_after(front_->options.body_timeout);
    if (contract::lower_case(header(parser.get(), "Expect").value_or("")) == "100-continue") {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(stream_, asio::buffer(kContinue), kToken);
    }
    auto [failed, bytes] = co_await http::async_read(stream_, buffer_, parser, kToken);
    if (failed) {
      co_await answer_broken(failed);
    }
    co_return !failed;
  }

  /// Answers and closes; what the client still sends is read away, or it might miss the answer.
  awaitable<bool> refuse(Reply reply) {
    reply.keep_alive(false);
    drain_ = true;
    co_await write(std::move(reply));
    co_return false;
  }

  awaitable<void> drain() {
    constexpr std::size_t kMost = 1U << 20U;
    stream_.expires_after(std::chrono::seconds(1));
    std::size_t drained = 0;
    while (drained < kMost) {
      buffer_.clear();
      auto [failed, got] = co_await stream_.async_read_some(buffer_.prepare(16384), kToken);
      if (failed || got == 0) {
        break;
      }
      drained += got;
    }
  }

  awaitable<bool> write(Reply reply) {
    reply.prepare_payload();
    stream_.expires_after(front_->options.write_timeout);
    auto [failed, bytes] = co_await http::async_write(stream_, reply, kToken);
    stream_.expires_never();
    co_return !failed;
  }

  awaitable<bool> handle(const Fields& request) {
    const auto named = header(request, "Mcp-Session-Id");
    const bool modern = header(request, "MCP-Protocol-Version") == std::string(kModernVersion);
    HttpSessionPtr session;
    if (named && !modern) {
      session = front_->find(*named, account_);
      if (session == nullptr) {
        Reply reply = refusal(http::status::not_found, "there is no such session");
        reply.keep_alive(request.keep_alive());
        co_return co_await write(std::move(reply));
      }
    }
    if (request.method() == http::verb::delete_) {
      front_->end(session);
      Reply reply(http::status::no_content, request.version());
      reply.keep_alive(request.keep_alive());
      co_return co_await write(std::move(reply));
    }
    const auto signal = std::make_shared<Signal>(stream_.get_executor());
    const Accepts accepts = accepts_of(request);
    const auto outlet = std::make_shared<HttpOutlet>(
        accepts.stream && request.version() >= 11, front_->options.max_stream_bytes,
        [signal] { asio::post(signal->timer.get_executor(), [signal] { signal->wake(); }); });
    const Closing closing{outlet};
    if (request.method() == http::verb::get) {
      co_return co_await stream_of(session, outlet, signal);
    }
    co_return co_await message(request, session, outlet, signal);
  }

  /// A legacy session's own stream.
  awaitable<bool> stream_of(HttpSessionPtr session, Outlets outlet,
                            std::shared_ptr<Signal> signal) {
    session->outlet->attach(outlet);
    --front_->active;  // an ending server waits for it only once all calls are answered
    ++front_->streams;
    // A named object: GCC 12 destroys such a temporary in a co_await expression twice.
    Waiting waiting{.peer = session->peer, .outlet = outlet, .signal = signal};
    waiting.stream_at = Clock::now();
    const bool go_on = co_await wait_for_answer(std::move(waiting));
    --front_->streams;
    ++front_->active;
    session->used = Clock::now();
    co_return go_on;
  }

  struct Waiting {
    std::shared_ptr<Peer> peer;
    Outlets outlet;
    std::shared_ptr<Signal> signal;
    Clock::time_point stream_at = Clock::time_point::max();
    bool cancels = false;  ///< the connection's end is the request's
    bool keep_alive = true;
    std::string session_id{};
  };

  awaitable<bool> message(const Fields& request, HttpSessionPtr session, Outlets outlet,
                          std::shared_ptr<Signal> signal) {
    const std::string& body = request.body();
    const RawMessage raw = raw_message(body);
    const auto method = raw.members.find("method");
    const bool begins = session == nullptr && method == R"("initialize")";
    std::shared_ptr<Dispatcher> dispatcher;
    Waiting waiting{.peer = nullptr, .outlet = outlet, .signal = signal};
    if (begins && !front_->make_room()) {
      co_return co_await refuse(
          refusal(http::status::service_unavailable, "too many sessions are in use"));
    }
    if (begins) {
      session = front_->make_session(account_);
    }
    if (session != nullptr) {
      waiting.peer = session->peer;
      dispatcher = session->dispatcher;
    } else {
      // On its own: its ids are no business of any other request.
      waiting.peer = std::make_shared<Peer>(front_->context_of(account_), outlet,
                                            PeerTraits{.principal = account_, .can_ask = false});
      dispatcher = std::make_shared<Dispatcher>(front_->core, waiting.peer);
      front_->track(waiting.peer);
    }
    std::vector<JobPtr> jobs;
    dispatcher->accept(body, facts_of(request, session != nullptr && !begins), outlet, jobs);
    if (begins && session != nullptr && session->peer->initialized()) {
      front_->add(session);
      waiting.session_id = session->id;
    }
    for (JobPtr& job : jobs) {
      front_->workers->add(std::move(job));
    }
    // What is neither a request nor a notification was refused, and is answered too.
    const bool wants_answer = outlet->answered() || !body.starts_with('{') ||
                              !scan_message(body, kMaxValues).has_value() ||
                              (raw.members.contains("id") && method.has_value());
    const Accepts accepts = accepts_of(request);
    waiting.cancels = session == nullptr;
    waiting.keep_alive = request.keep_alive();
    if (accepts.stream && request.version() >= 11) {
      waiting.stream_at = accepts.json ? Clock::now() + front_->options.stream_after : Clock::now();
    }
    if (!wants_answer) {
      Reply reply(http::status::accepted, request.version());
      reply.keep_alive(request.keep_alive());
      co_return co_await write(std::move(reply));
    }
    co_return co_await wait_for_answer(std::move(waiting));
  }

  /// Until the answer is written, the client is gone or too slow.
  awaitable<bool> wait_for_answer(Waiting waiting) {
    bool streaming = false;
    bool watching = false;
    auto comment_at = Clock::time_point::max();
    while (true) {
      waiting.signal->woken = false;
      HttpOutlet::Taken taken = waiting.outlet->take();
      if (taken.overflowed || waiting.signal->gone) {
        leave(waiting);
        co_return false;
      }
      if (taken.answer && !streaming && taken.messages.empty() &&
          waiting.stream_at > Clock::now()) {
        unwatch(*waiting.signal);
        co_return co_await write_json(waiting, *taken.answer);
      }
      const bool over = taken.answer || taken.withdrawn;
      std::string frames;
      if (!streaming && (over || !taken.messages.empty() || waiting.stream_at <= Clock::now())) {
        if (taken.withdrawn && !taken.answer && taken.messages.empty()) {
          unwatch(*waiting.signal);
          Reply reply(http::status::accepted, 11);
          reply.keep_alive(waiting.keep_alive);
          co_return co_await write(std::move(reply));
        }
        if (!co_await begin_stream(waiting)) {
          leave(waiting);
          co_return false;
        }
        streaming = true;
        comment_at = Clock::now() + front_->options.keep_alive;
      }
      for (const std::string& line : taken.messages) {
        frames += sse_frame(line);
      }
      if (taken.answer) {
        frames += sse_frame(taken.answer->line);
      }
      if (frames.empty() && streaming && !over && Clock::now() >= comment_at) {
        frames = ":\n\n";
      }
      if (!frames.empty()) {
        comment_at = Clock::now() + front_->options.keep_alive;
        if (!co_await write_chunk(std::move(frames))) {
          leave(waiting);
          co_return false;
        }
      }
      if (over) {
        unwatch(*waiting.signal);
        co_return co_await end_stream() && waiting.keep_alive;
      }
      if (!watching) {
        watching = true;
        asio::co_spawn(stream_.get_executor(), watch(waiting.signal), asio::detached);
      }
      co_await pause(waiting, streaming ? comment_at : waiting.stream_at);
    }
  }

  /// Sleeps until something came or a time is reached, and gives due signs of life.
  awaitable<void> pause(Waiting& waiting, Clock::time_point until) {
    if (const auto due = waiting.outlet->tick_due()) {
      if (*due <= Clock::now()) {
        waiting.outlet->clear_tick();
        if (const auto next = waiting.peer->tick(Clock::now())) {
          waiting.outlet->tick_by(*next);
        }
        co_return;
      }
      until = std::min(until, *due);
    }
    if (waiting.signal->woken) {
      co_return;
    }
    waiting.signal->timer.expires_at(until);
    co_await waiting.signal->timer.async_wait(kToken);
  }

  /// Notices that the client closed its end while it waits. What it sends before, which belongs to
  /// its next request, is read ahead, or its end could not be seen behind it.
  awaitable<void> watch(std::shared_ptr<Signal> signal) {
    while (!signal->unwatched && buffer_.size() < kReadAhead) {
      const std::size_t room = kReadAhead - buffer_.size();
      auto [failed, got] = co_await stream_.socket().async_read_some(buffer_.prepare(room), kToken);
      if (failed == asio::error::operation_aborted) {
        co_return;
      }
      if (failed || got == 0) {
        signal->gone = true;
        signal->wake();
        co_return;
      }
      buffer_.commit(got);
    }
  }

  void unwatch(Signal& signal) {
    signal.unwatched = true;
    beast::error_code ignored;
    stream_.socket().cancel(ignored);
  }

  /// The client is gone: in the modern era that cancels what it asked for.
  void leave(const Waiting& waiting) {
    waiting.outlet->close();
    if (waiting.cancels) {
      waiting.peer->cancel_all();
    }
    unwatch(*waiting.signal);
  }

  awaitable<bool> write_json(const Waiting& waiting, HttpOutlet::Answer answer) {
    Reply reply(http::int_to_status(static_cast<unsigned>(answer.status)), 11);
    reply.set(http::field::content_type, kJson);
    if (!waiting.session_id.empty()) {
      reply.set("Mcp-Session-Id", waiting.session_id);
    }
    reply.keep_alive(waiting.keep_alive);
    reply.body() = std::move(answer.line);
    co_return co_await write(std::move(reply));
  }

  awaitable<bool> begin_stream(const Waiting& waiting) {
    http::response<http::empty_body> head(http::status::ok, 11);
    head.set(http::field::content_type, "text/event-stream");
    head.set(http::field::cache_control, "no-cache, no-transform");
    head.set("X-Accel-Buffering", "no");
    if (!waiting.session_id.empty()) {
      head.set("Mcp-Session-Id", waiting.session_id);
    }
    head.keep_alive(waiting.keep_alive);
    head.chunked(true);
    http::response_serializer<http::empty_body> serializer(head);
    stream_.expires_after(front_->options.write_timeout);
    auto [failed, bytes] = co_await http::async_write_header(stream_, serializer, kToken);
    stream_.expires_never();
    co_return !failed;
  }

  awaitable<bool> write_chunk(std::string frames) {
    stream_.expires_after(front_->options.write_timeout);
    auto [failed, bytes] =
        co_await asio::async_write(stream_, http::make_chunk(asio::buffer(frames)), kToken);
    stream_.expires_never();
    co_return !failed;
  }

  awaitable<bool> end_stream() {
    stream_.expires_after(front_->options.write_timeout);
    auto [failed, bytes] = co_await asio::async_write(stream_, http::make_chunk_last(), kToken);
    stream_.expires_never();
    co_return !failed;
  }

  static constexpr std::size_t kReadAhead = 64U << 10U;

  beast::basic_stream<asio::generic::stream_protocol> stream_;
  beast::flat_buffer buffer_;  ///< bounded, or the lines between chunks and behind them were not
  const std::shared_ptr<HttpFront> front_;
  std::string account_;
  bool fresh_ = true;  ///< no request came yet
  bool drain_ = false;
};

}  // namespace

awaitable<void> serve_connection(HttpSocket socket, std::shared_ptr<HttpFront> front) {
  ++front->connections;
  // On the heap: the watching coroutine refers to it, and is gone only after a turn of the loop.
  auto connection = std::make_unique<Connection>(std::move(socket), front);
  try {
    co_await connection->run();
  } catch (const std::exception& error) {
    front->core->log.warn(fmt::format("a connection broke: {}", error.what()));
  }
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  connection.reset();
  --front->connections;
  if (front->on_change) {
    front->on_change();
  }
}

}  // namespace bawn::mcp
