/// \file
/// What a client writes into headers: encoding is taken back by decoding, and no Host or Origin
/// that is not ours passes for one of ours.
#include "bawn/mcp/http.hpp"
#include "headers.hpp"
#include "http/access.hpp"
#include "require.hpp"

#include <algorithm>
#include <string>
#include <string_view>

using namespace bawn::mcp;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string header = encode_header(text);
  require(std::ranges::all_of(header, [](char c) { return c >= ' ' && c <= '~'; }),
          "a header that cannot travel");
  // Bytes that are no UTF-8 come through as they are, and cannot be encoded.
  if (const auto decoded = decode_header(text)) {
    const auto again = decode_header(encode_header(*decoded));
    require(!again || *again == *decoded, "decoding does not undo encoding");
  }
  if (const auto bytes = decode_base64(text)) {
    require(encode_base64(*bytes) == text, "base64 of more than one form");
  }
  const HttpOptions options{.allowed_hosts = {"bawn.example"}};
  if (is_allowed_host(text, options)) {
    const std::string name = host_name(text);
    require(name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == "bawn.example",
            "a foreign host is taken");
    require(text.substr(0, name.size()).size() == name.size() &&
                (text.size() == name.size() || text[name.size()] == ':'),
            "something behind the name");
  }
  if (is_allowed_origin(text, options)) {
    require(text.starts_with("http://") || text.starts_with("https://"), "a foreign scheme");
    require(text.find('@') == std::string_view::npos && text.rfind('/') <= 7, "more than a host");
  }
  const HttpOptions guarded{.tokens = {{.token = "0123456789abcdef", .account = "alice"}}};
  require(!account_of(text, guarded) || text.substr(7) == "0123456789abcdef", "another token");
  return 0;
}
