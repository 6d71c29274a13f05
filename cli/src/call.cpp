/// \file
/// `bawn call`: one call of one of our own tools from a command line.

#include "bawn/contract/quote.hpp"
#include "bawn/os/event_fd.hpp"
#include "call_arguments.hpp"
#include "call_run.hpp"
#include "call_text.hpp"
#include "commands.hpp"
#include "own_tools.hpp"
#include "program.hpp"
#include "run_wait.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Context;
using contract::Result;

/// Cancels a context when this process is told to end, as long as it lives.
class CancelOnSignal {
 public:
  CancelOnSignal(const RunSignals& signals, os::EventFd& done, const contract::CancelSource& source)
      : done_(done), thread_([this, &signals, source] { watch(signals, source); }) {}
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;
  ~CancelOnSignal() { finish(); }

  /// Ends the watching. The signal that came, if one did.
  std::optional<int> finish() {
    if (thread_.joinable()) {
      done_.signal();
      thread_.join();
    }
    return signal_;
  }

 private:
  void watch(const RunSignals& signals, const contract::CancelSource& source) {
    std::array<pollfd, 2> ready = {pollfd{signals.fd(), POLLIN, 0}, pollfd{done_.get(), POLLIN, 0}};
    while (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
    }
    signal_ = signals.next();
    if (signal_) {
      source.cancel();
    }
  }

  os::EventFd& done_;
  std::optional<int> signal_;  ///< the thread's until it is joined
  std::thread thread_;
};

struct SignalledAnswer {
  CallAnswer answer;
  std::optional<int> signal;
};

/// As long as it runs, a signal that ends this process cancels the call.
Result<SignalledAnswer> run_until_signalled(const contract::ToolPtr& tool, const Context& base,
                                            const CallWords& words) {
  const RunSignals signals = BAWN_TRY(RunSignals::block());
  os::EventFd done = BAWN_TRY(os::EventFd::make());
  const contract::CancelSource source(base);
  CancelOnSignal guard(signals, done, source);
  CallAnswer answer = BAWN_TRY(run_call(tool, source.context(), words));
  return SignalledAnswer{.answer = std::move(answer), .signal = guard.finish()};
}

int finish(const Printed& printed) {
  const bool written =
      std::fwrite(printed.out.data(), 1, printed.out.size(), stdout) == printed.out.size() &&
      std::fflush(stdout) == 0;
  if (!written) {
    std::fprintf(stderr, "bawn call: cannot write standard output: %s\n", std::strerror(errno));
    return kOwnFailure;
  }
  std::fwrite(printed.err.data(), 1, printed.err.size(), stderr);
  return static_cast<int>(printed.status);
}

int wrong_usage(const std::string& text) {
  return finish({.err = "bawn call: " + text + "\n", .status = CallExit::Usage});
}

std::vector<contract::ToolInfo> describe_all(const std::vector<contract::ToolPtr>& tools) {
  std::vector<contract::ToolInfo> all;
  for (const contract::ToolPtr& tool : tools) {
    all.push_back(contract::describe_tool(*tool));
  }
  return all;
}

Result<int> call(const WallOptions& options, const std::vector<std::string>& words) {
  OwnTools own = BAWN_TRY(make_own_tools(options, {}, LoginEnvironment::No, SessionLife::OneCall));
  const std::vector<contract::ToolPtr> tools = BAWN_TRY(own.tools());
  if (words.empty()) {
    return finish({.out = list_text(describe_all(tools))});
  }
  const auto tool = std::ranges::find_if(
      tools, [&](const contract::ToolPtr& one) { return one->definition().name == words.front(); });
  if (tool == tools.end()) {
    return wrong_usage(
        fmt::format("there is no tool {}; `bawn call` lists them", contract::quote(words.front())));
  }
  const contract::ToolInfo info = contract::describe_tool(**tool);
  const auto asked = read_call_words(info, {words.begin() + 1, words.end()});
  if (!asked) {
    return wrong_usage(asked.error().message());
  }
  if (asked->help) {
    return finish({.out = help_text(info)});
  }
  const auto [answer, signal] = BAWN_TRY(run_until_signalled(*tool, own.context, *asked));
  own.pool->close_all();
  own.pool->close_all_places();
  const int status = finish(print_call(answer, asked->json));
  return signal && status != kOwnFailure ? kBySignal + *signal : status;
}

}  // namespace

void add_call(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<WallOptions>();
  CLI::App* command =
      app.add_subcommand("call", "Call one of the tools: bawn call TOOL --help tells how");
  add_wall_options(*command, *options);
  // From the tool's name on, the words are the tool's.
  command->prefix_command();
  command->callback([options, command, &chosen] {
    chosen = [options, words = command->remaining()] {
      auto status = call(*options, words);
      if (!status) {
        tell_failure("bawn", status.error().message());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
