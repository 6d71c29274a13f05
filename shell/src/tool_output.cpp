#include "bawn/contract/encode.hpp"
#include "tool_follow.hpp"
#include "tool_support.hpp"

#include <fmt/format.h>

namespace bawn::shell {

namespace {

using contract::field;

struct OutputArgs {
  std::optional<std::string> call;
  std::optional<std::string> session;
  FollowArguments follow;
  std::optional<std::int64_t> stdout_from;
  std::optional<std::int64_t> stderr_from;
  std::optional<std::int64_t> stdout_line;
  std::optional<std::int64_t> stderr_line;
  std::optional<std::string> filter;
  std::string encoding = "text";
  std::optional<int> max_output_bytes;

  static constexpr auto describe() {
    return contract::fields(
        field("call", &OutputArgs::call)
            .desc("Id of the call, from its result. Left out: list the recent calls"),
        field("session", &OutputArgs::session)
            .desc("Session of the call. Left out: the default one"),
        contract::embed(&OutputArgs::follow),
        field("stdout_from", &OutputArgs::stdout_from)
            .desc("Byte offset to read standard output from. Left out: behind what was shown last")
            .at_least(0),
        field("stderr_from", &OutputArgs::stderr_from)
            .desc("The same for standard error")
            .at_least(0),
        field("stdout_line", &OutputArgs::stdout_line)
            .desc("Line to read standard output from, counted from 1, instead of an offset")
            .at_least(1),
        field("stderr_line", &OutputArgs::stderr_line)
            .desc("The same for standard error")
            .at_least(1),
        field("filter", &OutputArgs::filter)
            .desc("Show only lines that match this regular expression (RE2), with their numbers"),
        field("encoding", &OutputArgs::encoding)
            .desc("text: readable, terminal sequences left out; base64: the bytes as printed")
            .one_of("text,base64")
            .with_default(),
        field("max_output_bytes", &OutputArgs::max_output_bytes)
            .desc("How much output to show")
            .range(256, 102'400));
  }
};

/// One line of the list.
struct SummaryEntry {
  std::string call;
  std::string kind;
  std::string state;
  std::optional<std::string> reason;
  std::optional<int> exit_code;
  std::uint64_t out_bytes = 0;
  std::uint64_t err_bytes = 0;
  bool answered = true;

  static constexpr auto describe() {
    return contract::fields(
        field("call", &SummaryEntry::call).desc("Id of the call"),
        field("kind", &SummaryEntry::kind).one_of("bash,exec").desc("Which tool started it"),
        field("state", &SummaryEntry::state).one_of("running,finished").desc("Whether it runs"),
        field("reason", &SummaryEntry::reason).desc("Why it ended"),
        field("exit_code", &SummaryEntry::exit_code).desc("Its exit code"),
        field("stdout_bytes", &SummaryEntry::out_bytes).desc("Bytes on standard output so far"),
        field("stderr_bytes", &SummaryEntry::err_bytes).desc("Bytes on standard error so far"),
        field("answered", &SummaryEntry::answered)
            .desc("False for a cancelled call whose result nobody has seen"));
  }
};

struct OutputEntry {
  std::optional<CallEntry> result;
  std::optional<std::vector<SummaryEntry>> calls;

  static constexpr auto describe() {
    return contract::fields(
        field("result", &OutputEntry::result).desc("The call's result as it is now"),
        field("calls", &OutputEntry::calls).desc("The recent calls, oldest first"));
  }
};

constexpr const char* kDescription =
    "Read the output of a running or recent call of bash or exec, waiting a while for a running "
    "one to end, or with follow or until for what it prints next. Without a call id it lists the "
    "recent calls, also those that were cancelled. Results "
    "and output stay readable for the last calls of a session; bytes left out of a result are read "
    "with stdout_from and stderr_from.";

std::optional<std::uint64_t> unsigned_of(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

contract::Outcome list(const ToolSupport& support, const Session& session) {
  OutputEntry entry;
  entry.calls.emplace();
  std::string text;
  for (const CallSummary& call : session.recent()) {
    SummaryEntry line{.call = call.call,
                      .kind = call.kind,
                      .state = std::string(to_string(call.state)),
                      .reason = std::nullopt,
                      .exit_code = call.exit_code,
                      .out_bytes = call.out_bytes,
                      .err_bytes = call.err_bytes,
                      .answered = call.answered};
    if (call.reason) {
      line.reason = std::string(to_string(*call.reason));
    }
    text += fmt::format("{} {} {}{}{}, stdout {} bytes, stderr {} bytes{}\n", line.call, line.kind,
                        line.reason.value_or(line.state), line.exit_code ? " exit " : "",
                        line.exit_code ? std::to_string(*line.exit_code) : "", line.out_bytes,
                        line.err_bytes, line.answered ? "" : ", result not seen yet");
    entry.calls->push_back(std::move(line));
  }
  contract::ToolResult result =
      contract::text_result(text.empty() ? std::string("no calls yet\n") : std::move(text));
  auto structured = contract::encode(entry);
  if (!structured) {
    return structured.error();
  }
  result.structured = *std::move(structured);
  result.confinement = session.confinement();
  static_cast<void>(support);
  return result;
}

contract::Outcome show(const ToolSupport& support, const Session& session, const OutputArgs& args,
                       CallResult call) {
  call.session = args.session.value_or(support.options().default_session);
  const std::vector<Denial> refused = support.denials(session, call);
  OutputEntry entry;
  entry.result = to_entry(call, refused);
  contract::ToolResult result =
      contract::text_result(to_text(call, refused, {.usual_cwd = session.workspace()}));
  auto structured = contract::encode(entry);
  if (!structured) {
    return structured.error();
  }
  result.structured = *std::move(structured);
  result.confinement = session.confinement();
  return result;
}

}  // namespace

Result<contract::ToolPtr> make_output_tool(const SupportPtr& support) {
  contract::ToolOptions options = tool_options(support, {.title = "Read a call's output",
                                                         .read_only = true,
                                                         .destructive = false,
                                                         .idempotent = false,
                                                         .open_world = false});
  options.output_schema = BAWN_TRY(contract::schema_text_of<OutputEntry>());
  const auto run = [support](const contract::Context& context,
                             const OutputArgs& args) -> contract::Outcome {
    const auto session = support->running(context, args.session);
    if (!session) {
      return session.error();
    }
    if (!args.call) {
      return list(*support, **session);
    }
    OutputRequest request;
    request.call = *args.call;
    apply(args.follow, request);
    request.out_from = unsigned_of(args.stdout_from);
    request.err_from = unsigned_of(args.stderr_from);
    request.out_line = unsigned_of(args.stdout_line);
    request.err_line = unsigned_of(args.stderr_line);
    request.filter = args.filter;
    request.raw = args.encoding == "base64";
    request.view_bytes = args.max_output_bytes ? static_cast<std::size_t>(*args.max_output_bytes)
                                               : support->options().view_bytes;
    auto result = (*session)->output(context, request);
    if (!result) {
      return refusal(result.error());
    }
    return show(*support, **session, args, *std::move(result));
  };
  return contract::make_tool<OutputArgs>("bash_output", kDescription, run, std::move(options));
}

}  // namespace bawn::shell
