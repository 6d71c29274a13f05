/// \file
/// What a request's headers say, and replies that need no dispatcher.
#pragma once

#include "bawn/mcp/http.hpp"
#include "era.hpp"

#include <boost/beast/http.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;
using HttpReply = boost::beast::http::response<boost::beast::http::string_body>;

inline constexpr const char* kJson = "application/json";

[[nodiscard]] inline std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

[[nodiscard]] std::optional<std::string> header(const HttpRequest& request, std::string_view name);

/// One of the headers that name, admit or route a request, when it is there more than once: a proxy
/// in front may go by another of its values than this server.
[[nodiscard]] std::optional<std::string> repeated_header(const HttpRequest& request);

/// What the client can read; without the header, anything.
struct Accepts {
  bool json = true;
  bool stream = true;
};
[[nodiscard]] Accepts accepts_of(const HttpRequest& request);

/// The headers that decide the era or repeat the body.
[[nodiscard]] HttpFacts facts_of(const HttpRequest& request, bool session);

[[nodiscard]] std::string sse_frame(std::string_view line);

/// A refusal before anything was dispatched.
[[nodiscard]] HttpReply refusal(boost::beast::http::status status, const std::string& why);

[[nodiscard]] HttpReply health();

}  // namespace bawn::mcp
