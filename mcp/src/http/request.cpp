#include "http/request.hpp"

#include "bawn/contract/lower_case.hpp"
#include "json_rpc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace bawn::mcp {

namespace beast = boost::beast;
namespace http = beast::http;

std::optional<std::string> header(const HttpRequest& request, std::string_view name) {
  const auto found = request.find(beast::string_view(name.data(), name.size()));
  return found == request.end() ? std::nullopt : std::optional(std::string(view(found->value())));
}

std::optional<std::string> repeated_header(const HttpRequest& request) {
  constexpr std::array<std::string_view, 6> kSingle = {
      "authorization", "content-length", "content-type", "host", "origin", "transfer-encoding"};
  std::set<std::string> seen;
  for (const auto& field : request) {
    std::string name = contract::lower_case(view(field.name_string()));
    const bool single =
        name.starts_with("mcp-") || std::ranges::find(kSingle, name) != kSingle.end();
    if (single && !seen.insert(name).second) {
      return name;
    }
  }
  return std::nullopt;
}

Accepts accepts_of(const HttpRequest& request) {
  if (!header(request, "Accept")) {
    return {};
  }
  std::string text;
  for (const auto& field : request) {
    if (field.name() == http::field::accept) {
      text += contract::lower_case(view(field.value())) + ",";
    }
  }
  const auto has = [&](const char* type) { return text.find(type) != std::string::npos; };
  const bool any = has("*/*");
  return {.json = any || has(kJson) || has("application/*"),
          .stream = any || has("text/event-stream") || has("text/*")};
}

HttpFacts facts_of(const HttpRequest& request, bool session) {
  HttpFacts facts{.version_header = header(request, "MCP-Protocol-Version"),
                  .session = session,
                  .method_header = header(request, "Mcp-Method"),
                  .name_header = header(request, "Mcp-Name"),
                  .parameters = {}};
  for (const auto& field : request) {
    const std::string name = contract::lower_case(view(field.name_string()));
    if (name.starts_with("mcp-param-")) {
      facts.parameters[name] = std::string(view(field.value()));
    }
  }
  return facts;
}

std::string sse_frame(std::string_view line) {
  return fmt::format("event: message\ndata: {}\n\n", line);
}

HttpReply refusal(http::status status, const std::string& why) {
  HttpReply reply(status, 11);
  reply.set(http::field::content_type, kJson);
  reply.body() = error_line(std::nullopt, {.code = RpcCode::InvalidRequest, .message = why});
  return reply;
}

HttpReply health() {
  HttpReply reply(http::status::ok, 11);
  reply.set(http::field::content_type, "text/plain");
  reply.set(http::field::cache_control, "no-store");
  reply.body() = "serving\n";
  return reply;
}

}  // namespace bawn::mcp
