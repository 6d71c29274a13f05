#include "tool_follow.hpp"
#include "tool_support.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bawn::shell {

namespace {

using contract::field;

struct InputArgs {
  std::string call;
  std::optional<std::string> session;
  std::optional<std::string> text;
  std::optional<std::vector<std::byte>> base64;
  bool eof = false;
  std::optional<int> columns;
  std::optional<int> rows;
  FollowArguments follow{.yield_ms = 2'000, .follow = true, .until = {}, .settle_ms = 100};
  std::optional<int> max_output_bytes;

  static constexpr auto describe() {
    return contract::fields(
        field("call", &InputArgs::call)
            .desc("Id of a running call that was started with \"stdin\": \"pipe\" or with tty"),
        field("session", &InputArgs::session)
            .desc("Session of the call. Left out: the default one"),
        field("text", &InputArgs::text)
            .desc("Text to write. A line is taken when it ends with a newline; on a terminal keys "
                  "are their bytes: \\u0003 is Ctrl-C, \\u001b Escape, \\u001b[A arrow up"),
        field("base64", &InputArgs::base64).desc("Bytes to write, instead of text"),
        field("eof", &InputArgs::eof)
            .desc("End the input behind what is written: end of file, or Ctrl-D on a terminal")
            .with_default(),
        field("columns", &InputArgs::columns)
            .desc("With rows: the terminal's new width")
            .range(10, 500),
        field("rows", &InputArgs::rows)
            .desc("With columns: the terminal's new height")
            .range(2, 200),
        contract::embed(&InputArgs::follow),
        field("max_output_bytes", &InputArgs::max_output_bytes)
            .desc("How much output to show")
            .range(256, 102'400));
  }
};

constexpr const char* kDescription =
    "Write to the standard input of a running call, or type into its terminal, and show what it "
    "prints next: the answer comes when nothing was printed for settle_ms, when the call ended, or "
    "after yield_ms; until waits for a prompt. With neither text nor eof it only looks, or resizes "
    "the terminal.";

Result<InputRequest> request_of(InputArgs& args) {
  const auto refuse = [](const char* why) {
    return contract::fail(ErrorCode::InvalidArgument, std::string("invalid arguments: ") + why);
  };
  if (args.text && args.base64) {
    return refuse("give either text or base64");
  }
  if (args.columns.has_value() != args.rows.has_value()) {
    return refuse("columns and rows go together");
  }
  InputRequest request;
  request.call = args.call;
  request.bytes = std::move(args.text).value_or("");
  if (args.base64) {
    request.bytes.assign(reinterpret_cast<const char*>(args.base64->data()), args.base64->size());
  }
  request.end = args.eof;
  if (args.columns) {
    request.resize = TerminalSize{.columns = static_cast<std::uint16_t>(*args.columns),
                                  .rows = static_cast<std::uint16_t>(*args.rows)};
  }
  return request;
}

contract::Outcome write(const ToolSupport& support, const contract::Context& context,
                        InputArgs& args) {
  const auto request = request_of(args);
  if (!request) {
    return request.error();
  }
  const auto session = support.running(context, args.session);
  if (!session) {
    return session.error();
  }
  if (const auto written = (*session)->write_input(*request); !written) {
    return refusal(written.error());
  }
  OutputRequest look;
  look.call = args.call;
  apply(args.follow, look);
  look.view_bytes = args.max_output_bytes ? static_cast<std::size_t>(*args.max_output_bytes)
                                          : support.options().view_bytes;
  auto result = (*session)->output(context, look);
  if (!result) {
    return refusal(result.error());
  }
  return support.outcome(**session, args.session, *std::move(result));
}

}  // namespace

Result<contract::ToolPtr> make_input_tool(const SupportPtr& support) {
  contract::ToolOptions options = tool_options(support, {.title = "Write to a running call",
                                                         .read_only = false,
                                                         .destructive = true,
                                                         .idempotent = false,
                                                         .open_world = true});
  options.output_schema = BAWN_TRY(contract::schema_text_of<CallEntry>());
  return contract::make_tool<InputArgs>(
      "bash_input", kDescription,
      [support](const contract::Context& context, InputArgs args) {
        return write(*support, context, args);
      },
      std::move(options));
}

}  // namespace bawn::shell
