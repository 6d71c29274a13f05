#include "http_exchange.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <chrono>
#include <iterator>

namespace bawn::container {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using boost::system::error_code;

constexpr std::uint64_t kMaxBody = std::uint64_t{16} << 20U;
constexpr std::chrono::seconds kLimit{30};

class Exchange {
 public:
  Exchange(const std::string& method, const std::string& target) {
    request_.method_string(method);
    request_.target(target);
    request_.version(11);
    request_.set(http::field::host, "engine");
    request_.set(http::field::connection, "close");
    parser_.body_limit(kMaxBody);
  }

  /// Runs it to its end; `error` says how it failed.
  void run(const std::string& socket, std::chrono::steady_clock::time_point deadline,
           error_code& error) {
    stream_.expires_at(deadline);
    stream_.async_connect(Local::endpoint(socket), [this, &error](error_code connected) {
      error = connected;
      if (!error) {
        write(error);
      }
    });
    loop_.run();
  }
  [[nodiscard]] HttpReply take() {
    auto answer = parser_.release();
    return {.status = answer.result_int(), .body = std::move(answer.body())};
  }

 private:
  void write(error_code& error) {
    http::async_write(stream_, request_, [this, &error](error_code written, std::size_t) {
      error = written;
      if (!error) {
        http::async_read(stream_, buffer_, parser_,
                         [&error](error_code read, std::size_t) { error = read; });
      }
    });
  }

  asio::io_context loop_{1};
  beast::basic_stream<Local> stream_{loop_};
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response_parser<http::string_body> parser_;
};

}  // namespace

Result<HttpReply> http_exchange(const contract::Context& context, const std::string& socket,
                                const std::string& method, const std::string& target) {
  if (context.cancelled()) {
    return contract::fail(ErrorCode::Cancelled, "the call was cancelled");
  }
  const auto latest = contract::Context::Clock::now() + kLimit;
  const auto deadline = context.deadline() ? std::min(*context.deadline(), latest) : latest;
  error_code error;
  try {
    Exchange exchange(method, target);
    exchange.run(socket, deadline, error);
    if (!error) {
      return exchange.take();
    }
  } catch (const std::exception& thrown) {  // Asio's endpoint for a path that is too long
    return contract::fail(ErrorCode::Closed,
                          fmt::format("the engine's socket {}: {}", socket, thrown.what()));
  }
  if (error == beast::error::timeout) {
    return contract::fail(
        ErrorCode::DeadlineExceeded,
        fmt::format("the container engine at {} did not answer in time; see whether "
                    "it hangs, or name another one",
                    socket));
  }
  return contract::fail(ErrorCode::Closed, fmt::format("the container engine at {} does not answer "
                                                       "({}); start it, or name another one",
                                                       socket, error.message()));
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') ||
                       std::string_view("-_.~").find(letter) != std::string_view::npos;
    if (plain) {
      encoded += letter;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", byte);
    }
  }
  return encoded;
}

}  // namespace bawn::container
