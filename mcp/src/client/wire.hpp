/// \file
/// Requests and answers over a pair of pipes, from the side that asks.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/client.hpp"
#include "client/channel.hpp"
#include "stdio/line_reader.hpp"
#include "stdio/line_writer.hpp"
#include "unique_fd.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace bawn::mcp {

/// Threads: thread-safe.
class Wire final : public Channel {
 public:
  [[nodiscard]] static contract::Result<std::shared_ptr<Channel>> open(int from_server,
                                                                       int to_server,
                                                                       const ClientOptions& options,
                                                                       OnNotification notify);
  ~Wire() override;

  [[nodiscard]] contract::Result<RemoteAnswer> ask(const contract::Context& context,
                                                   const Request& request) override;
  [[nodiscard]] contract::Result<> tell(std::string_view method, const Json& params) override;
  void close() override;

 private:
  struct Pending {
    std::optional<RemoteAnswer> answer;
    std::deque<Json> progress;
    std::deque<Json> questions;  ///< whole requests
    bool takes_questions = false;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  Wire(UniqueFd in, UniqueFd out, UniqueFd stop, UniqueFd wake, const ClientOptions& options,
       OnNotification notify);
  [[nodiscard]] std::string next_id();
  void read_all();
  [[nodiscard]] bool accept(std::string_view line);
  void accept_request(const Json& message);
  void accept_answer(const Json& message);
  void serve(const PendingPtr& pending, const RequestHooks& hooks,
             std::unique_lock<std::mutex>& lock);
  /// Queues it: never waits for the server. Errors: Closed; ResourceExhausted when the server has
  /// long read nothing, and then nothing of the line was sent.
  [[nodiscard]] contract::Result<> write(std::string line);
  /// What waits to be written to; -1 when nothing does.
  [[nodiscard]] int waiting_output();
  void flush_output();
  /// A line that is no message; false when there were too many.
  [[nodiscard]] bool forgive(std::string_view what);
  void answer(const Json& id, const Json& result);
  void refuse(const Json& id);
  void log(std::string_view line) const;

  const UniqueFd in_;
  std::unique_ptr<LineWriter> out_;  // under write_mutex_; null once it is closed
  const UniqueFd stop_;
  const UniqueFd wake_;  // something waits to be written
  const ClientOptions& options_;
  const OnNotification notify_;
  std::mutex write_mutex_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool closed_ = false;
  std::uint64_t last_ = 0;
  std::size_t nonsense_ = 0;  // of the reader
  std::map<std::string, PendingPtr> pending_;
  std::thread reader_;
};

}  // namespace bawn::mcp
