#include "bawn/contract/encode.hpp"
#include "bawn/contract/quote.hpp"
#include "tool_arguments.hpp"
#include "tool_escalation.hpp"
#include "tool_support.hpp"

#include <vector>

namespace bawn::shell {

namespace {

using contract::field;

struct ExecArgs : CallArguments {
  std::optional<std::vector<std::string>> argv;
  std::optional<std::string> command;
  std::vector<std::string> args;

  static constexpr auto describe() {
    return contract::fields(
        field("argv", &ExecArgs::argv)
            .desc("Program and its arguments; no shell reads them. Either this or command"),
        field("command", &ExecArgs::command).desc("Program, with its arguments in args"),
        field("args", &ExecArgs::args).desc("Arguments of command").optional(),
        contract::embed<CallArguments>());
  }
};

constexpr const char* kDescription =
    "Run one program with exact arguments, without a shell, inside the same wall as bash and "
    "beside "
    "it: also while a bash call runs. It sees none of the shell's variables. The result has the "
    "exact "
    "exit code or signal, CPU time and peak memory.";

Result<std::vector<std::string>> argv_of(ExecArgs& args) {
  if (args.argv.has_value() == args.command.has_value()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "invalid arguments: give either argv or command");
  }
  if (args.argv) {
    if (!args.args.empty()) {
      return contract::fail(ErrorCode::InvalidArgument,
                            "invalid arguments: args goes with command; argv has them already");
    }
    return *std::move(args.argv);
  }
  std::vector<std::string> argv{*std::move(args.command)};
  argv.insert(argv.end(), std::make_move_iterator(args.args.begin()),
              std::make_move_iterator(args.args.end()));
  return argv;
}

contract::Outcome run_with_request(const ToolSupport& support, const contract::Context& context,
                                   ExecArgs& args, std::vector<std::string> argv) {
  if (const auto fits = check_escalated(args); !fits) {
    return fits.error();
  }
  std::string shown;
  for (const std::string& word : argv) {
    shown += (shown.empty() ? "" : " ") + contract::plain_or_quoted(word);
  }
  const CallArguments asked = args;
  ExecRequest request;
  apply(args, request, support.options());
  request.argv = std::move(argv);
  request.yield.reset();
  return run_escalated(support, context, asked,
                       {.tool = "exec", .command = shown, .run = [&](Session& session) {
                          return session.exec(context, std::move(request));
                        }});
}

}  // namespace

Result<contract::ToolPtr> make_exec_tool(const SupportPtr& support) {
  contract::ToolOptions options = tool_options(support, {.title = "Run one program",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = false,
                                                         .open_world = true});
  options.output_schema = BAWN_TRY(contract::schema_text_of<CallEntry>());
  options.cli = contract::CliInfo{
      .group = "shell",
      .operation = "exec",
      .positional = {"argv"},
      .examples = {{"Run a program without a shell", R"({"argv":["git","status","--short"]})"}}};
  const auto run = [support](const contract::Context& context, ExecArgs args) -> contract::Outcome {
    auto argv = argv_of(args);
    if (!argv) {
      return argv.error();
    }
    if (const auto fits = support->options().one_call ? check_one_call(args) : Result<>(); !fits) {
      return fits.error();
    }
    if (args.request) {
      return run_with_request(*support, context, args, *std::move(argv));
    }
    const auto session = support->session(context, args.session);
    if (!session) {
      return session.error();
    }
    ExecRequest request;
    apply(args, request, support->options());
    request.argv = *std::move(argv);
    auto result = (*session)->exec(context, std::move(request));
    if (!result) {
      return refusal(result.error());
    }
    return support->outcome(**session, args.session, *std::move(result));
  };
  return contract::make_tool<ExecArgs>("exec", kDescription, run, std::move(options));
}

}  // namespace bawn::shell
