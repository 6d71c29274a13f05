/// \file
/// Requests and answers over a pair of pipes, from the side that asks.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/client.hpp"
#include "json_rpc.hpp"
#include "stdio/line_reader.hpp"
#include "unique_fd.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace bawn::mcp {

/// A server's answer: the result, or its error.
struct RemoteError {
  int code = 0;
  std::string message;
  Json data;
};

using RemoteAnswer = std::expected<Json, RemoteError>;

/// What happens beside the answer while a request waits. Both run on the waiting thread.
struct RequestHooks {
  std::function<void(const Json& params)> on_progress{};
  /// A legacy server's `elicitation/create`; its result.
  std::function<Json(const Json& params)> on_question{};
};

/// Threads: thread-safe.
class Wire {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static contract::Result<std::shared_ptr<Wire>> open(int from_server, int to_server,
                                                                    const ClientOptions& options);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  struct Request {
    std::string method;
    /// JSON text of an object; its progress token, if any, is the request's `id`.
    std::function<std::string(const std::string& id)> params;
    std::optional<Clock::time_point> deadline{};
    RequestHooks hooks{};
  };
  /// Sends it and waits. A given-up request is cancelled at the server and its answer dropped.
  ///
  /// Errors: Cancelled, DeadlineExceeded, Closed.
  [[nodiscard]] contract::Result<RemoteAnswer> ask(const contract::Context& context,
                                                   Request request);
  [[nodiscard]] contract::Result<> tell(std::string_view method, const Json& params);
  void close();

 private:
  struct Pending {
    std::optional<RemoteAnswer> answer;
    std::deque<Json> progress;
    std::deque<Json> questions;  ///< whole requests
    bool takes_questions = false;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  Wire(UniqueFd in, UniqueFd out, UniqueFd stop, const ClientOptions& options);
  [[nodiscard]] std::string next_id();
  void read_all();
  void accept(std::string_view line);
  void accept_request(const Json& message);
  void accept_answer(const Json& message);
  void serve(const PendingPtr& pending, const RequestHooks& hooks,
             std::unique_lock<std::mutex>& lock);
  [[nodiscard]] contract::Result<> write(std::string line);
  void answer(const Json& id, const Json& result);
  void refuse(const Json& id);
  void log(std::string_view line) const;

  const UniqueFd in_;
  UniqueFd out_;  // under write_mutex_
  const UniqueFd stop_;
  const ClientOptions& options_;
  std::mutex write_mutex_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool closed_ = false;
  std::uint64_t last_ = 0;
  std::map<std::string, PendingPtr> pending_;
  std::thread reader_;
};

}  // namespace bawn::mcp
