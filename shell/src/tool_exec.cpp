#include "bawn/contract/encode.hpp"
#include "tool_support.hpp"

#include <map>

namespace bawn::shell {

namespace {

using contract::field;

struct ExecArgs {
  std::optional<std::vector<std::string>> argv;
  std::optional<std::string> command;
  std::vector<std::string> args;
  std::optional<std::string> session;
  std::optional<std::string> cwd;
  std::map<std::string, std::string> env;
  std::optional<std::string> input;
  std::optional<int> timeout_ms;
  int yield_ms = 10'000;
  std::optional<int> max_output_bytes;
  std::optional<int> output_limit_bytes;

  static constexpr auto describe() {
    return contract::fields(
        field("argv", &ExecArgs::argv)
            .desc("Program and its arguments; no shell reads them. Either this or command"),
        field("command", &ExecArgs::command).desc("Program, with its arguments in args"),
        field("args", &ExecArgs::args).desc("Arguments of command").optional(),
        field("session", &ExecArgs::session).desc("Name of the session. Left out: the default one"),
        field("cwd", &ExecArgs::cwd)
            .desc("Working directory, absolute or below the workspace. Left out: the workspace"),
        field("env", &ExecArgs::env)
            .desc("Environment variables set for this program only")
            .optional(),
        field("stdin", &ExecArgs::input).desc("Text for standard input. Left out: /dev/null"),
        field("timeout_ms", &ExecArgs::timeout_ms)
            .desc("Stop the program after this many milliseconds. Left out: no limit")
            .range(1, 86'400'000),
        field("yield_ms", &ExecArgs::yield_ms)
            .desc("Answer \"running\" after this many milliseconds; the program goes on and "
                  "bash_output follows it")
            .with_default()
            .range(0, 45'000),
        field("max_output_bytes", &ExecArgs::max_output_bytes)
            .desc("How much output to show; head and tail when there is more")
            .range(256, 102'400),
        field("output_limit_bytes", &ExecArgs::output_limit_bytes)
            .desc("Stop the program when a stream grows beyond this. Left out: never")
            .range(1, 2'000'000'000));
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

}  // namespace

Result<contract::ToolPtr> make_exec_tool(const SupportPtr& support) {
  contract::ToolOptions options;
  options.annotations = contract::Annotations{.title = "Run one program",
                                              .read_only = false,
                                              .destructive = true,
                                              .idempotent = false,
                                              .open_world = true};
  options.confined = [support](const contract::Context& context, std::string_view args) {
    return support->confined(context, args);
  };
  options.output_schema = BAWN_TRY(contract::schema_text_of<CallEntry>());
  options.additional_properties = false;
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
    const auto session = support->session(context, args.session);
    if (!session) {
      return session.error();
    }
    ExecRequest request;
    request.argv = *std::move(argv);
    request.cwd = args.cwd.value_or("");
    request.environment.assign(args.env.begin(), args.env.end());
    request.input = std::move(args.input);
    request.timeout = milliseconds_of(args.timeout_ms);
    request.yield = Milliseconds(args.yield_ms);
    request.output_limit = static_cast<std::uint64_t>(args.output_limit_bytes.value_or(0));
    request.view_bytes = args.max_output_bytes ? static_cast<std::size_t>(*args.max_output_bytes)
                                               : support->options().view_bytes;
    auto result = (*session)->exec(context, std::move(request));
    if (!result) {
      return refusal(result.error());
    }
    return support->outcome(**session, args.session, *std::move(result));
  };
  return contract::make_tool<ExecArgs>("exec", kDescription, run, std::move(options));
}

}  // namespace bawn::shell
