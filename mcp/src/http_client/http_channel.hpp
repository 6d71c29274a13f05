/// \file
/// A client's requests over streamable HTTP.
/// Source: MCP 2026-07-28 and 2025-11-25, transports.
#pragma once

#include "bawn/mcp/http_client.hpp"
#include "client/channel.hpp"
#include "http_client/sse_reader.hpp"
#include "http_client/transfer.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace bawn::mcp {

/// Each request is an exchange of its own on the thread that asks.
///
/// Threads: thread-safe.
class HttpChannel final : public Channel {
 public:
  HttpChannel(std::string url, HttpClientOptions http, const ClientOptions& options,
              OnNotification notify);
  ~HttpChannel() override;

  [[nodiscard]] contract::Result<RemoteAnswer> ask(const contract::Context& context,
                                                   const Request& request) override;
  [[nodiscard]] contract::Result<> tell(std::string_view method, const Json& params) override;
  void speak(const std::string& version) override;
  [[nodiscard]] bool has_headers() const noexcept override;
  [[nodiscard]] contract::Result<std::uint64_t> authorization(
      const contract::Context& context) override;
  [[nodiscard]] contract::Result<> listen(const contract::Context& context,
                                          const std::function<void()>& opened) override;
  void close() override;

 private:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  /// A request that waits. What the session's own stream has for it goes through `inbox`.
  struct Pending {
    std::string id;
    const RequestHooks* hooks;
    SseReader events;
    std::optional<RemoteAnswer> answer{};
    std::deque<Json> inbox{};              // under mutex_
    std::shared_ptr<Transfer> transfer{};  // under mutex_
  };

  [[nodiscard]] contract::Result<HttpResponse> exchange(const contract::Context& context,
                                                        std::optional<Clock::time_point> deadline,
                                                        HttpExchange exchange,
                                                        const Transfer::Watcher& watch,
                                                        Pending* pending);
  [[nodiscard]] contract::Result<std::string> current_token(const contract::Context& context);
  [[nodiscard]] contract::Result<bool> authorize_again(const contract::Context& context,
                                                       const HttpResponse& response,
                                                       const std::string& token);
  [[nodiscard]] contract::Result<HttpResponse> resume(const contract::Context& context,
                                                      const Request& request, Pending& pending);
  [[nodiscard]] bool watch(HttpResponse& response, Pending& pending);
  void accept(const Json& message, Pending& pending);
  void accept_unasked(const Json& message);
  void answer_question(const Json& question, const RequestHooks& hooks);
  [[nodiscard]] RemoteAnswer refusal(const HttpResponse& response, const std::string& session);
  [[nodiscard]] contract::Result<> post(const Json& message);
  [[nodiscard]] Headers headers_for(const std::string& method);
  [[nodiscard]] Headers headers_of(const Request& request);
  [[nodiscard]] std::string session();
  void take_session(const HttpResponse& response);
  void log(std::string_view line) const;

  const std::string url_;
  const HttpClientOptions http_;
  const ClientOptions& options_;
  const OnNotification notify_;
  TransferPool pool_;
  mutable std::mutex mutex_;
  std::string version_;
  std::string session_;
  std::string token_;                // the last that was sent
  std::uint64_t authorization_ = 0;  // how often it was another one
  std::uint64_t last_ = 0;
  std::set<Pending*> pending_;
  bool closed_ = false;
  std::string last_heard_;  // of the thread that listens
};

}  // namespace bawn::mcp
