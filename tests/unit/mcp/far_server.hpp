/// \file
/// A far server over pipes: tools of ours, or a script. What a client under test connects to.
#pragma once

#include "bawn/contract/json.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/client.hpp"
#include "bawn/mcp/stdio.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bawn::mcp::test {

using contract::Json;

/// A pair of pipes with whatever serves behind them.
class Pipes {
 public:
  Pipes() {
    EXPECT_EQ(::pipe2(to_server_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_server_.data(), O_CLOEXEC), 0);
  }
  ~Pipes() {
    close_server();
    ::close(to_server_[1]);
    ::close(from_server_[0]);
  }
  [[nodiscard]] contract::Result<std::shared_ptr<Client>> connect(
      ClientOptions options = {}) const {
    return Client::connect(contract::Context(), from_server_[0], to_server_[1], std::move(options));
  }
  void serve(std::vector<contract::ToolPtr> tools) {
    const auto server = Server::create({.name = "far"}, std::move(tools));
    serving_ = std::async(std::launch::async, [this, server] {
      return serve_stdio(*server, {.in_fd = to_server_[0],
                                   .out_fd = from_server_[1],
                                   .take_standard_streams = false,
                                   .handle_signals = false,
                                   .watch_parent = false,
                                   .eof_grace = std::chrono::milliseconds(20)});
    });
  }
  /// Answers each line by `answer` of it; an empty answer says nothing, "quit" ends the server.
  void script(std::function<std::string(const Json& message)> answer) {
    scripted_ = std::async(std::launch::async, [this, answer = std::move(answer)] {
      std::string buffer;
      std::array<char, 4096> part{};
      ssize_t got = 0;
      while ((got = ::read(to_server_[0], part.data(), part.size())) > 0) {
        buffer.append(part.data(), static_cast<std::size_t>(got));
        for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
          const std::string reply =
              answer(contract::parse_json(buffer.substr(0, end)).value_or(nullptr));
          buffer.erase(0, end + 1);
          if (reply == "quit") {
            ::close(std::exchange(from_server_[1], -1));
            ::close(std::exchange(to_server_[0], -1));
            return;
          }
          if (!reply.empty()) {
            const std::string line = reply + "\n";
            EXPECT_EQ(::write(from_server_[1], line.data(), line.size()),
                      static_cast<ssize_t>(line.size()));
          }
        }
      }
    });
  }
  /// Ends the server: its input is over.
  void close_server() {
    if (to_server_[1] >= 0 && (serving_.valid() || scripted_.valid())) {
      ::close(to_server_[1]);
      to_server_[1] = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    if (serving_.valid()) {
      EXPECT_TRUE(serving_.get());
    }
    if (scripted_.valid()) {
      scripted_.get();
    }
    if (from_server_[1] >= 0) {
      ::close(std::exchange(from_server_[1], -1));
      ::close(std::exchange(to_server_[0], -1));
    }
  }

 private:
  std::array<int, 2> to_server_{};
  std::array<int, 2> from_server_{};
  std::future<contract::Result<StdioEnd>> serving_;
  std::future<void> scripted_;
};

inline std::string result(const Json& message, const Json& value) {
  return contract::dump_json(Json{{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", value}});
}

inline contract::Outcome run(const contract::ToolPtr& tool, const std::string& args,
                             const contract::Context& context = {}) {
  return tool->execute(context, contract::Call{.id = "1", .args = args});
}

/// What a modern server that lists `pages` gives.
inline contract::Result<std::vector<contract::ToolPtr>> listed(std::vector<Json> pages,
                                                               ClientOptions options = {}) {
  Pipes pipes;
  options.era = EraChoice::Modern;
  pipes.script([pages](const Json& message) {
    const Json cursor = message["params"].value("cursor", Json("0"));
    const auto page = static_cast<std::size_t>(std::stoi(cursor.get<std::string>()));
    Json value = {{"resultType", "complete"}, {"tools", pages[page]}};
    if (page + 1 < pages.size()) {
      value["nextCursor"] = std::to_string(page + 1);
    }
    return result(message, value);
  });
  const auto client = pipes.connect(std::move(options));
  if (!client) {
    return std::unexpected(client.error());
  }
  auto tools = (*client)->tools(contract::Context());
  (*client)->close();  // the tools would keep the connection
  return tools;
}

inline Json entry(const std::string& name, const std::string& description = "d") {
  return {{"name", name}, {"description", description}, {"inputSchema", {{"type", "object"}}}};
}

}  // namespace bawn::mcp::test
