/// \file
/// The least that an MCP server over HTTP on Boost.Beast can cost: it reads a request, looks for
/// its id, and answers the same to all. A floor for benchmarks, not a server. usage: floor_http;
/// prints "serving at http://127.0.0.1:PORT/mcp" to standard error.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

std::string answer_to(const std::string& body) {
  const auto id = body.find("\"id\":");
  const auto begin = id == std::string::npos ? id : id + 5;
  const std::string text =
      id == std::string::npos ? "0" : body.substr(begin, body.find_first_of(",}", begin) - begin);
  return R"({"jsonrpc":"2.0","id":)" + text +
         R"(,"result":{"resultType":"complete","content":[{"type":"text","text":"ok"}],"isError":false}})";
}

asio::awaitable<void> serve(tcp::socket socket) {
  boost::beast::flat_buffer buffer;
  while (true) {
    http::request<http::string_body> request;
    auto [broken, got] = co_await http::async_read(socket, buffer, request, kToken);
    if (broken) {
      co_return;
    }
    http::response<http::string_body> reply(http::status::ok, 11);
    reply.set(http::field::content_type, "application/json");
    reply.body() = answer_to(request.body());
    reply.prepare_payload();
    auto [failed, written] = co_await http::async_write(socket, reply, kToken);
    if (failed) {
      co_return;
    }
  }
}

asio::awaitable<void> accept(tcp::acceptor& acceptor) {
  while (true) {
    auto [failed, socket] = co_await acceptor.async_accept(kToken);
    if (!failed) {
      boost::system::error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
    }
  }
}

}  // namespace

int main() {
  asio::io_context io(1);
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  asio::co_spawn(io, accept(acceptor), asio::detached);
  std::fprintf(stderr, "serving at http://127.0.0.1:%u/mcp\n",
               static_cast<unsigned>(acceptor.local_endpoint().port()));
  io.run();
  return 0;
}
