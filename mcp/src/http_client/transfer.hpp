/// \file
/// HTTP exchanges through libcurl, each on the thread that asks, with connections that are kept
/// for the next.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::mcp {

struct HttpExchange {
  const char* method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};

/// What has come so far.
struct HttpResponse {
  int status = 0;                                ///< 0 until the head is whole
  std::map<std::string, std::string> headers{};  ///< names in lower case; equal ones joined by ", "
  std::string body{};

  [[nodiscard]] std::string header(const std::string& name) const;
};

struct TransferOptions {
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  std::string ca_file{};
  std::size_t max_body_bytes = 10U << 20U;  ///< of a body that nobody takes away
};

struct CurlHandles;
struct Receiver;

/// One exchange at a time, over and over.
class Transfer {
 public:
  using Clock = std::chrono::steady_clock;
  /// Sees the response after each part that came, and after each wake(); may take from its body.
  /// False ends the exchange: the rest is not read.
  using Watcher = std::function<bool(HttpResponse& response)>;

  explicit Transfer(std::unique_ptr<CurlHandles> handles);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Errors: Closed when the server is not reached or breaks off, or after stop();
  /// DeadlineExceeded; Cancelled; ResourceExhausted for a body that is too long.
  [[nodiscard]] contract::Result<HttpResponse> run(const contract::Context& context,
                                                   std::optional<Clock::time_point> deadline,
                                                   const HttpExchange& exchange,
                                                   const TransferOptions& options,
                                                   const Watcher& watch = {});
  /// Has the watcher look. Any thread.
  void wake();
  /// Ends the exchange and every later one. Any thread.
  void stop();

 private:
  [[nodiscard]] contract::Result<> loop(const contract::Context& context,
                                        std::optional<Clock::time_point> deadline,
                                        const Receiver& receiver, const Watcher& watch);
  const std::unique_ptr<CurlHandles> handles_;
};

/// Transfers for any number of threads.
///
/// Threads: thread-safe.
class TransferPool {
 public:
  explicit TransferPool(TransferOptions options) : options_(std::move(options)) {}
  ~TransferPool();
  TransferPool(const TransferPool&) = delete;
  TransferPool& operator=(const TransferPool&) = delete;

  /// One for the caller alone; it goes back when the last pointer goes. Must not outlive the pool.
  /// Errors: Closed after close(); ResourceExhausted.
  [[nodiscard]] contract::Result<std::shared_ptr<Transfer>> lease();
  [[nodiscard]] const TransferOptions& options() const noexcept { return options_; }
  /// Ends all exchanges, now and later.
  void close();
  /// Waits, as an exchange would; true when `time` was reached.
  [[nodiscard]] bool wait_until(const contract::Context& context,
                                std::chrono::steady_clock::time_point time);

 private:
  void give_back(Transfer* transfer);

  const TransferOptions options_;
  std::mutex mutex_;
  std::condition_variable_any closing_;
  bool closed_ = false;
  std::vector<std::unique_ptr<Transfer>> idle_;
  std::set<Transfer*> busy_;
};

}  // namespace bawn::mcp
