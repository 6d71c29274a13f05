/// \file
/// Lines of one client through the dispatcher, both eras: whatever comes, each answer is JSON-RPC
/// and nothing is answered twice.
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/server.hpp"
#include "dispatcher.hpp"
#include "require.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>

using namespace bawn;
using fuzz::require;

namespace {

class Echo final : public contract::Tool {
 public:
  Echo() : Tool({.name = "echo", .description = "Echoes.", .parameters = {}}, {}) {}
  contract::Outcome execute(const contract::Context& /*context*/,
                            const contract::Call& call) const override {
    return contract::text_result(call.args);
  }
};

class Counting final : public mcp::Outlet {
 public:
  void send(std::string line) override {
    const auto message = contract::parse_json(line);
    require(message.has_value(), "a line that is no JSON");
    require(line.find('\n') == std::string::npos, "a message of two lines");
    ++lines;
  }
  void send_droppable(std::string_view /*key*/, std::string line) override {
    send(std::move(line));
  }
  void tick_by(Clock::time_point /*time*/) override {}
  std::size_t lines = 0;
};

const mcp::Server& server() {
  static const mcp::Server made = [] {
    mcp::ServerOptions options{.name = "fuzz", .logging = true};
    options.log = [](std::string_view) {};
    options.prompts = {
        {.name = "p",
         .description = "A prompt.",
         .arguments = {{.name = "a", .description = "", .required = true}},
         .get = [](const contract::Context&, const mcp::Prompt::Arguments&)
             -> contract::Result<mcp::PromptMessages> { return mcp::PromptMessages{}; }}};
    return mcp::Server::create(std::move(options), {std::make_shared<const Echo>()}).value();
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto outlet = std::make_shared<Counting>();
  const auto peer = std::make_shared<mcp::Peer>(contract::Context(), outlet);
  mcp::Dispatcher dispatcher(server().core(), peer);
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::vector<mcp::JobPtr> jobs;
    dispatcher.accept(line, std::nullopt, outlet, jobs);
    for (const mcp::JobPtr& job : jobs) {
      job->begin();
      job->run();
    }
    ++lines;
  }
  peer->interrupt();
  require(outlet->lines <= lines * 2 + 1, "more answers than messages");
  return 0;
}
