/// \file
/// What a client inside says to the proxy: the head of a request, its body, SOCKS 5, and the names
/// and addresses in them. What is forwarded has one meaning.
#include "net/address.hpp"
#include "net/host_rules.hpp"
#include "net/http_request.hpp"
#include "net/socks.hpp"
#include "require.hpp"

#include <string>
#include <string_view>

using namespace bawn::sandbox::net;
using bawn::fuzz::require;

namespace {

void check_head(const ProxyRequest& request) {
  if (request.connect) {
    return;
  }
  const std::string_view head = request.head;
  require(head.ends_with("\r\n\r\n"), "a forwarded head without an end");
  require(head.find("\r\n\r\n") + 4 == head.size(), "two requests in one head");
  for (std::size_t at = 0; at < head.size(); ++at) {
    require(head[at] != '\n' || (at > 0 && head[at - 1] == '\r'), "a bare line feed");
    require(head[at] != '\0', "a NUL is forwarded");
  }
  require(!(request.chunked && request.body != 0), "two lengths of one body");
}

/// However the bytes are cut, the body ends at the same place.
void check_body(const ProxyRequest& request, std::string_view bytes) {
  BodyEnd whole(request);
  BodyEnd cut(request);
  const auto taken = whole.take(bytes);
  std::size_t sum = 0;
  bool broken = false;
  for (const char byte : bytes) {
    const auto one = cut.done() ? std::optional<std::size_t>(0) : cut.take({&byte, 1});
    broken = !one;
    if (broken || *one == 0) {
      break;
    }
    sum += *one;
  }
  require(broken == !taken, "a body that is broken only when it comes whole");
  require(!taken || (*taken <= bytes.size() && *taken == sum), "a body of two lengths");
}

void check_host(std::string_view text) {
  if (const auto host = normalise_host(text)) {
    const auto again = normalise_host(*host);
    require(again && *again == *host, "a name that changes when it is read twice");
  }
  if (const auto address = parse_address(text)) {
    require(parse_address(to_string(*address)) == address, "another address came back");
  }
  (void)looks_numeric(text);
  (void)parse_prefix(text);
  (void)parse_host_rule(text);
  (void)parse_fixed_address(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t blank = bytes.find("\r\n\r\n");
  const std::size_t end = blank == std::string_view::npos ? size : blank + 4;
  if (const auto request = parse_request(bytes.substr(0, end))) {
    check_head(*request);
    check_body(*request, bytes.substr(end));
    check_host(request->host);
  } else {
    require(request.error().status >= 400, "a refusal that is none");
  }
  const auto greeting = read_socks_greeting(bytes);
  require(greeting.size <= size, "a greeting longer than what came");
  const auto request = read_socks_request(bytes);
  require(request.size <= size, "a request longer than what came");
  if (request.state == SocksState::Complete) {
    check_host(request.host);
  }
  check_host(bytes.substr(0, bytes.find('\n')));
  return 0;
}
