#include "http_check.hpp"

#include "bawn/mcp/http.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace bawn::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

/// One request on one connection, each step within the same deadline.
class Probe {
 public:
  Probe(const asio::ip::address& address, std::uint16_t port) : at_(address, port) {
    request_.set(http::field::host, address.to_string());
  }

  std::string run() {
    stream_.expires_after(std::chrono::seconds(3));
    stream_.async_connect(at_, [this](beast::error_code failed) {
      if (go_on(failed)) {
        http::async_write(stream_, request_, [this](beast::error_code unsent, std::size_t) {
          if (go_on(unsent)) {
            http::async_read(stream_, buffer_, response_,
                             [this](beast::error_code unread, std::size_t) { go_on(unread); });
          }
        });
      }
    });
    io_.run();
    if (failed_) {
      return failed_.message();
    }
    return response_.result() == http::status::ok
               ? std::string()
               : fmt::format("the answer is {}", response_.result_int());
  }

 private:
  bool go_on(beast::error_code failed) {
    failed_ = failed;
    return !failed;
  }

  asio::io_context io_;
  beast::tcp_stream stream_{io_};
  asio::ip::tcp::endpoint at_;
  http::request<http::empty_body> request_{http::verb::get, std::string(mcp::kHealthPath), 11};
  http::response<http::string_body> response_;
  beast::flat_buffer buffer_;
  beast::error_code failed_;
};

}  // namespace

contract::Result<> check_health(const std::string& address, std::uint16_t port) {
  beast::error_code bad;
  const auto parsed = asio::ip::make_address(address, bad);
  if (bad) {
    return contract::fail(contract::ErrorCode::InvalidArgument,
                          fmt::format("{} is no address", address));
  }
  const std::string problem = Probe(parsed, port).run();
  if (!problem.empty()) {
    return contract::fail(contract::ErrorCode::Closed,
                          fmt::format("nobody serves at {}:{}: {}", address, port, problem));
  }
  return {};
}

}  // namespace bawn::cli
