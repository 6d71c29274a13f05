#include "http_client/transfer.hpp"

#include "bawn/contract/lower_case.hpp"
#include "client/channel.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stop_token>

namespace bawn::mcp {

using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

struct CurlHandles {
  CURLM* multi = nullptr;
  CURL* easy = nullptr;
  std::atomic<bool> stopped = false;

  ~CurlHandles() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
};

struct Receiver {
  HttpResponse* response;
  std::size_t max_body_bytes;
  bool head = false;  ///< it is whole
  bool too_long = false;
};

namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  return text;
}

/// libcurl gives one whole line at a time, of interim responses too.
std::size_t take_header(char* data, std::size_t /*one*/, std::size_t size, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  HttpResponse& response = *receiver.response;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) {
    response.headers.clear();
    receiver.head = false;
    return size;
  }
  receiver.head = receiver.head || line == "\r\n" || line == "\n";
  const auto colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string& value = response.headers[contract::lower_case(trimmed(line.substr(0, colon)))];
    value += (value.empty() ? "" : ", ") + std::string(trimmed(line.substr(colon + 1)));
  }
  return size;
}

std::size_t take_body(char* data, std::size_t /*one*/, std::size_t size, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  if (receiver.response->body.size() + size > receiver.max_body_bytes) {
    receiver.too_long = true;
    return 0;
  }
  receiver.response->body.append(data, size);
  return size;
}

struct HeaderList {
  curl_slist* first = nullptr;
  ~HeaderList() { curl_slist_free_all(first); }
  void add(const std::string& line) { first = curl_slist_append(first, line.c_str()); }
};

/// Everything of an exchange but its headers.
void prepare(CURL* easy, const HttpExchange& exchange, const TransferOptions& options,
             Receiver& receiver) {
  curl_easy_reset(easy);  // keeps the connections
  curl_easy_setopt(easy, CURLOPT_URL, exchange.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  if (!options.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  }
  if (std::string_view(exchange.method) != "GET") {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(exchange.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange.body.data());
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange.method);
  }
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &receiver);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &receiver);
}

bool is_header_value(std::string_view value) {
  return std::ranges::none_of(value, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

Transfer::Transfer(std::unique_ptr<CurlHandles> handles) : handles_(std::move(handles)) {}
Transfer::~Transfer() = default;

void Transfer::wake() {
  curl_multi_wakeup(handles_->multi);
}

void Transfer::stop() {
  handles_->stopped = true;
  wake();
}

Result<HttpResponse> Transfer::run(const Context& context,
                                   std::optional<Clock::time_point> deadline,
                                   const HttpExchange& exchange, const TransferOptions& options,
                                   const Watcher& watch) {
  HttpResponse response;
  Receiver receiver{.response = &response, .max_body_bytes = options.max_body_bytes};
  prepare(handles_->easy, exchange, options, receiver);
  HeaderList headers;
  headers.add("Expect:");  // bodies are small: no round trip to ask for leave
  for (const auto& [name, value] : exchange.headers) {
    if (!is_header_value(value)) {
      return fail(ErrorCode::InvalidArgument, fmt::format("the header {} has a line end", name));
    }
    headers.add(value.empty() ? name + ";" : name + ": " + value);
  }
  curl_easy_setopt(handles_->easy, CURLOPT_HTTPHEADER, headers.first);
  curl_multi_add_handle(handles_->multi, handles_->easy);
  auto done = loop(context, deadline, receiver, watch);
  curl_multi_remove_handle(handles_->multi, handles_->easy);
  if (!done && receiver.too_long) {
    return fail(ErrorCode::ResourceExhausted,
                fmt::format("the server sent more than {} bytes at once", options.max_body_bytes));
  }
  BAWN_TRY(std::move(done));
  return response;
}

Result<> Transfer::loop(const Context& context, std::optional<Clock::time_point> deadline,
                        const Receiver& receiver, const Watcher& watch) {
  HttpResponse& response = *receiver.response;
  const std::stop_callback cancelled(context.stop_token(), [this] { wake(); });
  while (true) {
    int running = 0;
    if (curl_multi_perform(handles_->multi, &running) != CURLM_OK) {
      return fail(ErrorCode::Internal, "libcurl failed");
    }
    long status = 0;
    curl_easy_getinfo(handles_->easy, CURLINFO_RESPONSE_CODE, &status);
    response.status = receiver.head ? static_cast<int>(status) : 0;
    if (watch && !watch(response)) {
      return {};
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(handles_->multi, &left)) {
      if (message->msg == CURLMSG_DONE) {
        const CURLcode code = message->data.result;
        return code == CURLE_OK ? Result<>()
                                : fail(ErrorCode::Closed,
                                       std::string("the server: ") + curl_easy_strerror(code));
      }
    }
    if (handles_->stopped) {
      return fail(ErrorCode::Closed, kClosed);
    }
    if (context.cancelled()) {
      return fail(ErrorCode::Cancelled, "the call was cancelled");
    }
    constexpr std::int64_t kLongestMs = 60'000;
    std::int64_t wait = kLongestMs;
    if (deadline) {
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      if (rest.count() <= 0) {
        return fail(ErrorCode::DeadlineExceeded, "the server did not answer in time");
      }
      wait = std::min<std::int64_t>(wait, rest.count());
    }
    curl_multi_poll(handles_->multi, nullptr, 0, static_cast<int>(wait), nullptr);
  }
}

TransferPool::~TransferPool() {
  close();
}

Result<std::shared_ptr<Transfer>> TransferPool::lease() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::scoped_lock lock(mutex_);
  if (closed_) {
    return fail(ErrorCode::Closed, kClosed);
  }
  std::unique_ptr<Transfer> transfer;
  if (!idle_.empty()) {
    transfer = std::move(idle_.back());
    idle_.pop_back();
  } else {
    auto handles = std::make_unique<CurlHandles>();
    handles->multi = curl_multi_init();
    handles->easy = curl_easy_init();
    if (handles->multi == nullptr || handles->easy == nullptr) {
      return fail(ErrorCode::ResourceExhausted, "libcurl could not be started");
    }
    transfer = std::make_unique<Transfer>(std::move(handles));
  }
  busy_.insert(transfer.get());
  return std::shared_ptr<Transfer>(transfer.release(), [this](Transfer* used) { give_back(used); });
}

void TransferPool::give_back(Transfer* transfer) {
  constexpr std::size_t kKept = 4;
  std::unique_ptr<Transfer> owned(transfer);
  const std::scoped_lock lock(mutex_);
  busy_.erase(transfer);
  if (!closed_ && idle_.size() < kKept) {
    idle_.push_back(std::move(owned));
  }
}

void TransferPool::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    for (Transfer* const transfer : busy_) {
      transfer->stop();
    }
    idle_.clear();
  }
  closing_.notify_all();
}

bool TransferPool::wait_until(const Context& context, std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(mutex_);
  return !closing_.wait_until(lock, context.stop_token(), time, [&] { return closed_; }) &&
         !context.cancelled();
}

}  // namespace bawn::mcp
