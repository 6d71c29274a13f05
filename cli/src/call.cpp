/// \file
/// `bawn call`: one call of one of our own tools from a command line.

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/output_check.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/os/event_fd.hpp"
#include "call_arguments.hpp"
#include "call_text.hpp"
#include "commands.hpp"
#include "own_tools.hpp"
#include "run_wait.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Context;
using contract::Result;

enum CallExit : int { kDone = 0, kToolFailed = 1, kUsage = 2, kNeedsAnswer = 3 };

/// Answers a tool's questions from the command line, and keeps the first one that it cannot answer.
///
/// Threads: thread-safe.
class Questions {
 public:
  explicit Questions(std::vector<contract::Json> answers) : answers_(std::move(answers)) {}

  Result<contract::Answer> ask(const contract::Elicitation& question) {
    const std::scoped_lock lock(mutex_);
    if (next_ >= answers_.size()) {
      open_ = open_ ? open_ : std::optional(question);
      return contract::Answer{};
    }
    const contract::Json& given = answers_[next_++];
    contract::Answer answer;
    answer.action = BAWN_TRY(contract::answer_action(given.value("action", "accept")));
    if (given.contains("content")) {
      answer.content = given.at("content");
    }
    return answer;
  }
  [[nodiscard]] std::optional<contract::Elicitation> open() const {
    const std::scoped_lock lock(mutex_);
    return open_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<contract::Json> answers_;
  std::size_t next_ = 0;
  std::optional<contract::Elicitation> open_;
};

/// Cancels a context when this process is told to end, as long as it lives.
class CancelOnSignal {
 public:
  CancelOnSignal(const RunSignals& signals, os::EventFd& done, const contract::CancelSource& source)
      : done_(done), thread_([&signals, &done, source] { watch(signals, done, source); }) {}
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;
  ~CancelOnSignal() {
    done_.signal();
    thread_.join();
  }

 private:
  static void watch(const RunSignals& signals, const os::EventFd& done,
                    const contract::CancelSource& source) {
    std::array<pollfd, 2> ready = {pollfd{signals.fd(), POLLIN, 0}, pollfd{done.get(), POLLIN, 0}};
    while (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
    }
    if (ready[0].revents != 0) {
      source.cancel();
    }
  }

  os::EventFd& done_;
  std::thread thread_;
};

void print_line(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  if (!text.ends_with('\n')) {
    std::fputc('\n', stream);
  }
}

int present(const contract::Outcome& outcome, const Questions& questions, bool json) {
  if (const auto question = questions.open()) {
    print_line(stdout, contract::dump_json(question_json(*question)));
    return kNeedsAnswer;
  }
  if (json) {
    print_line(stdout, contract::dump_json(outcome_json(outcome)));
  } else if (outcome.error) {
    print_line(stderr, "Error: " + outcome.error->message());
  } else {
    print_line(stdout, contract::output_text(outcome.result));
  }
  return outcome.error ? kToolFailed : kDone;
}

/// Runs the call and checks what came of it, as a server would.
Result<contract::Outcome> run(const contract::ToolPtr& tool, const Context& base,
                              const contract::Json& arguments, Questions& questions) {
  const auto check = BAWN_TRY(contract::OutputCheck::of(*tool));
  const RunSignals signals = BAWN_TRY(RunSignals::block());
  os::EventFd done = BAWN_TRY(os::EventFd::make());
  const contract::CancelSource source(base);
  const CancelOnSignal guard(signals, done, source);
  const Context context = contract::with_elicitor(
      source.context(), [&](const Context&, const contract::Elicitation& question) {
        return questions.ask(question);
      });
  contract::Call call{.id = "call_1", .args = contract::dump_json(arguments)};
  auto outcomes = contract::Executor().results(context, {{.tool = tool, .call = std::move(call)}});
  contract::Outcome outcome = std::move(outcomes.front());
  if (const auto promised = check.check(outcome); !promised) {
    outcome.error = promised.error();
  }
  return outcome;
}

int wrong_usage(const std::string& text) {
  std::fprintf(stderr, "bawn call: %s\n", text.c_str());
  return kUsage;
}

std::vector<contract::ToolInfo> describe_all(const std::vector<contract::ToolPtr>& tools) {
  std::vector<contract::ToolInfo> all;
  for (const contract::ToolPtr& tool : tools) {
    all.push_back(contract::describe_tool(*tool));
  }
  return all;
}

Result<int> call(const WallOptions& options, const std::vector<std::string>& words) {
  OwnTools own = BAWN_TRY(make_own_tools(options));
  if (words.empty()) {
    print_line(stdout, list_text(describe_all(own.tools)));
    return kDone;
  }
  const auto tool = std::ranges::find_if(own.tools, [&](const contract::ToolPtr& one) {
    return one->definition().name == words.front();
  });
  if (tool == own.tools.end()) {
    return wrong_usage(
        fmt::format("there is no tool {}; `bawn call` lists them", contract::quote(words.front())));
  }
  const contract::ToolInfo info = contract::describe_tool(**tool);
  auto asked = read_call_words(info, {words.begin() + 1, words.end()});
  if (!asked) {
    return wrong_usage(asked.error().message());
  }
  if (asked->help) {
    print_line(stdout, help_text(info));
    return kDone;
  }
  Questions questions(std::move(asked->answers));
  const contract::Outcome outcome = BAWN_TRY(run(*tool, own.context, asked->arguments, questions));
  own.pool->close_all();
  return present(outcome, questions, asked->json);
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
        std::fprintf(stderr, "bawn: %s\n", status.error().message().c_str());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
