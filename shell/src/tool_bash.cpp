#include "bawn/contract/encode.hpp"
#include "tool_arguments.hpp"
#include "tool_escalation.hpp"
#include "tool_support.hpp"

namespace bawn::shell {

namespace {

using contract::field;

struct BashArgs : CallArguments {
  std::string command;
  bool check_syntax = true;
  bool check = false;
  bool keep_options = false;

  static constexpr auto describe() {
    return contract::fields(
        field("command", &BashArgs::command)
            .desc("Bash text of any length; it is run byte for byte, here-documents included"),
        contract::embed<CallArguments>(),
        field("check", &BashArgs::check)
            .desc("Only parse the text; nothing of it runs")
            .with_default(),
        field("check_syntax", &BashArgs::check_syntax)
            .desc("Parse all of the text before anything runs")
            .with_default(),
        field("keep_options", &BashArgs::keep_options)
            .desc("Leave errexit, nounset, xtrace, verbose and pipefail on for later calls")
            .with_default());
  }
};

constexpr const char* kDescription =
    "Run bash text in a persistent shell. Working directory, variables, functions, aliases and "
    "background jobs stay from call to call. Standard output and error come apart, with the exit "
    "code, the statuses of a pipeline, and exact counts. The call returns when its foreground part "
    "ends; background jobs go on, and what they print later belongs to their call (bash_output). "
    "There is no terminal unless tty asks for one: programs that want one fail at once. `exit` and "
    "a failing `set -e` "
    "end only the call: a new shell takes over the state, and the result says so. The session is "
    "confined; a command that hits the wall fails as usual, and the result names what the wall may "
    "have refused. One command at a time per session; use exec or another session beside it.";

BashRequest request_of(BashArgs& args, const ToolOptions& options) {
  BashRequest request;
  apply(args, request, options);
  request.command = std::move(args.command);
  request.check_syntax = args.check_syntax;
  request.check_only = args.check;
  request.keep_options = args.keep_options;
  return request;
}

contract::Outcome run_with_request(const ToolSupport& support, const contract::Context& context,
                                   BashArgs args) {
  if (const auto fits = check_escalated(args); !fits) {
    return fits.error();
  }
  const CallArguments asked = args;
  BashRequest request = request_of(args, support.options());
  request.yield.reset();
  const std::string command = request.command;
  return run_escalated(support, context, asked,
                       {.tool = "bash", .command = command, .run = [&](Session& session) {
                          return session.run(context, std::move(request));
                        }});
}

}  // namespace

Result<contract::ToolPtr> make_bash_tool(const SupportPtr& support) {
  contract::ToolOptions options = tool_options(support, {.title = "Run in the persistent shell",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = false,
                                                         .open_world = true});
  options.resources = [support](const contract::Context& context, std::string_view args) {
    return support->shell_of(context, args);
  };
  options.output_schema = BAWN_TRY(contract::schema_text_of<CallEntry>());
  options.cli = contract::CliInfo{
      .group = "shell",
      .operation = "bash",
      .positional = {"command"},
      .examples = {{"Count the files of a folder", R"({"command":"ls | wc -l"})"}}};
  const auto run = [support](const contract::Context& context, BashArgs args) -> contract::Outcome {
    if (const auto fits = support->options().one_call ? check_one_call(args) : Result<>(); !fits) {
      return fits.error();
    }
    if (args.request) {
      return run_with_request(*support, context, std::move(args));
    }
    const auto session = support->session(context, args.session);
    if (!session) {
      return session.error();
    }
    BashRequest request = request_of(args, support->options());
    request.background = args.background;
    auto result = (*session)->run(context, std::move(request));
    if (!result) {
      return refusal(result.error());
    }
    return support->outcome(**session, args.session, *std::move(result));
  };
  return contract::make_tool<BashArgs>("bash", kDescription, run, std::move(options));
}

}  // namespace bawn::shell
