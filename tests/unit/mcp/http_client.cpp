#include "http_client.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace bawn::mcp::test {
namespace {

using contract::Json;

std::string request_text(const Json& body, Headers headers, const Headers& changes) {
  for (const auto& [name, value] : changes) {
    headers[name] = value;
  }
  const std::string text = contract::dump_json(body);
  std::string request = "POST /mcp HTTP/1.1\r\n";
  headers.emplace("Content-Length", std::to_string(text.size()));
  for (const auto& [name, value] : headers) {
    if (!value.empty()) {
      request.append(name).append(": ").append(value).append("\r\n");
    }
  }
  return request + "\r\n" + text;
}

Headers common() {
  return {{"Host", "localhost"},
          {"Content-Type", "application/json"},
          {"Accept", "application/json, text/event-stream"}};
}

}  // namespace

HttpFixture::HttpFixture(std::vector<contract::ToolPtr> tools, ServerOptions server_options,
                         HttpOptions options)
    : server_(Server::create(std::move(server_options), std::move(tools)).value()),
      source_(options.context) {
  auto ready = std::make_shared<std::promise<std::uint16_t>>();
  auto port = ready->get_future();
  options.handle_signals = false;
  options.context = source_.context();
  options.on_ready = [ready](std::uint16_t bound) { ready->set_value(bound); };
  serving_ = std::async(std::launch::async, [this, options = std::move(options)] {
    return serve_http(server_, options);
  });
  EXPECT_EQ(port.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  port_ = port.get();
}

HttpFixture::~HttpFixture() {
  if (serving_.valid()) {
    stop();
  }
}

HttpEnd HttpFixture::stop() {
  source_.cancel(contract::CancelReason::Closed);
  const auto end = serving_.get();
  EXPECT_TRUE(end);
  return end.value_or(HttpEnd{});
}

std::string HttpFixture::modern(const Json& body, const Headers& headers) {
  Headers all = common();
  all["MCP-Protocol-Version"] = "2026-07-28";
  all["Mcp-Method"] = body.value("method", "");
  if (body.contains("params") && body["params"].contains("name")) {
    all["Mcp-Name"] = body["params"]["name"].get<std::string>();
  }
  return request_text(body, std::move(all), headers);
}

std::string HttpFixture::legacy(const Json& body, const Headers& headers) {
  Headers all = common();
  all["MCP-Protocol-Version"] = "2025-11-25";
  return request_text(body, std::move(all), headers);
}

HttpReply HttpFixture::send(const std::string& request) const {
  HttpConnection connection(port_);
  connection.write(request);
  return connection.reply();
}

Json modern_body(int id, const std::string& method, Json params, Json capabilities) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", std::move(capabilities)}};
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

Json legacy_begin() {
  return {{"jsonrpc", "2.0"},
          {"id", 0},
          {"method", "initialize"},
          {"params",
           {{"protocolVersion", "2025-11-25"},
            {"capabilities", Json::object()},
            {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}};
}

std::vector<BearerToken> alice_and_bob() {
  return {{.token = std::string(16, 'a'), .account = "alice"},
          {.token = std::string(16, 'b'), .account = "bob"}};
}

std::string text_of(const Json& answer) {
  return answer["result"]["content"][0]["text"].get<std::string>();
}

}  // namespace bawn::mcp::test
