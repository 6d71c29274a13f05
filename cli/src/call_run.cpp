#include "call_run.hpp"

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/output_check.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/visible_text.hpp"
#include "call_text.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Json;
using contract::Result;

Result<contract::Answer> answer_of(const Json& given) {
  const auto action = given.find("action");
  if (action == given.end() || !action->is_string()) {
    return fail(ErrorCode::InvalidArgument,
                "--answer needs an \"action\": \"accept\", \"decline\" or \"cancel\"");
  }
  contract::Answer answer;
  answer.action = BAWN_TRY(contract::answer_action(action->get_ref<const std::string&>()));
  if (const auto content = given.find("content"); content != given.end()) {
    answer.content = *content;
  }
  return answer;
}

/// Answers a tool's questions in their order, and keeps the first one that it has no answer to.
///
/// Threads: thread-safe; a tool may ask from several at once.
class Questions {
 public:
  explicit Questions(const std::vector<Json>& answers) : answers_(answers) {}

  Result<contract::Answer> ask(const contract::Elicitation& question) {
    const std::scoped_lock lock(mutex_);
    if (next_ < answers_.size()) {
      return answer_of(answers_[next_++]);
    }
    if (!open_) {
      open_ = question;
    }
    return contract::Answer{};
  }
  [[nodiscard]] std::optional<contract::Elicitation> open() const {
    const std::scoped_lock lock(mutex_);
    return open_;
  }

 private:
  const std::vector<Json>& answers_;
  mutable std::mutex mutex_;
  std::size_t next_ = 0;
  std::optional<contract::Elicitation> open_;
};

std::string line(std::string text) {
  if (!text.ends_with('\n')) {
    text += '\n';
  }
  return text;
}

/// Arguments that the tool's own description refuses are wrong words, like an unknown flag.
CallExit exit_of(const contract::Error& error) {
  const bool refused = contract::call_problem(error) == contract::CallProblem::InvalidInput ||
                       error.message().starts_with("invalid arguments:");
  return refused ? CallExit::Usage : CallExit::Failed;
}

/// Of a tool that runs commands the structure says how the command ended; a tool of another kind
/// did its work when it has no error.
CallExit exit_of(const contract::ToolResult& result) {
  const auto word = [&](const char* member) {
    const auto found = result.structured->find(member);
    return found != result.structured->end() && found->is_string() ? found->get<std::string>() : "";
  };
  const bool of_command = result.structured && result.structured->is_object() &&
                          word("state") == "finished" && !word("reason").empty();
  if (!of_command) {
    return CallExit::Done;
  }
  const std::string reason = word("reason");
  if (reason == "timeout") {
    return CallExit::TimedOut;
  }
  // A message with a status stands in place of a command that could not be started.
  const auto code = result.structured->find("exit_code");
  const bool failed = code == result.structured->end() || *code != 0;
  const bool ran =
      (reason == "exited" || reason == "signalled") && (word("message").empty() || !failed);
  return ran ? CallExit::Done : CallExit::Failed;
}

/// A line for a terminal, which would obey control characters: they are written as `\x1b`.
std::string harmless_line(std::string_view text) {
  const std::string quoted = contract::quote(text);
  std::string out;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    const bool escaped = quoted[i] == '\\' && (quoted[i + 1] == '"' || quoted[i + 1] == '\\');
    out += quoted[escaped ? ++i : i];
  }
  return out;
}

/// The same for each line of a text.
std::string harmless(std::string_view text) {
  std::string out;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += harmless_line(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return out + harmless_line(text);
}

}  // namespace

Result<CallAnswer> run_call(const contract::ToolPtr& tool, const contract::Context& context,
                            const CallWords& words) {
  const auto check = BAWN_TRY(contract::OutputCheck::of(*tool));
  Questions questions(words.answers);
  const contract::Context asking = contract::with_elicitor(
      context, [&](const contract::Context&, const contract::Elicitation& question) {
        return questions.ask(question);
      });
  contract::Call call{.id = "call_1", .args = contract::dump_json(words.arguments)};
  auto outcomes = contract::Executor().results(asking, {{.tool = tool, .call = std::move(call)}});
  CallAnswer answer{.outcome = std::move(outcomes.front()), .question = questions.open()};
  if (const auto promised = check.check(answer.outcome); !promised) {
    answer.outcome.error = promised.error();
  }
  return answer;
}

Printed print_call(const CallAnswer& answer, bool json) {
  if (answer.question) {
    return {.out = line(contract::dump_json(question_json(*answer.question))),
            .status = CallExit::NeedsAnswer};
  }
  const auto& [outcome, question] = answer;
  Printed printed;
  printed.status = outcome.error ? exit_of(*outcome.error) : exit_of(outcome.result);
  if (json) {
    printed.out = line(contract::dump_json(outcome_json(outcome)));
  } else if (outcome.error) {
    printed.err = line("Error: " + harmless(outcome.error->message()));
  } else {
    printed.out = line(contract::visible_text(contract::output_text(outcome.result)));
  }
  if (outcome.result.confinement) {
    printed.err += unconfined_line(*outcome.result.confinement);
  }
  return printed;
}

}  // namespace bawn::cli
