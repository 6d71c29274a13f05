/// \file
/// The declarative way to make a tool: callbacks configure one draft, and what they made is
/// published as an immutable value that may have a defect (C-12). For tools that are built from
/// many places and checked afterwards; `make_tool` is the shorter way.
///
///     auto tool = declare_tool<LookUp>("documents.find", find_document,
///         [](ToolDraft<LookUp>& draft) { draft.description("Find a document").read_only(true); },
///         [](ToolDraft<LookUp>& draft) { draft.cli("documents", "find").positional({"id"}); });
///     if (const auto* defect = tool.defect()) { return *defect; }
#pragma once

#include "bawn/contract/guard.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/tool_info.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bawn::contract {

class DeclaredTool;

namespace detail {

/// What the setters of a draft fill in.
struct DraftData {
  std::string name{};
  std::string description{};
  Annotations annotations{};
  AvailabilityPolicy availability{};
  std::optional<std::string> input_schema{};
  std::optional<std::string> output_schema{};
  CliInfo cli{};
  bool wants_cli = false;
  ToolOptions properties{};
  std::optional<Error> defect{};  ///< the first one; later ones do not replace it

  void note(std::string problem);
};

/// Runs a declared tool's handler on checked arguments and gives its output as JSON.
using DeclaredHandler = std::function<Result<Json>(const Context&, const Call&, const JsonNode&)>;

[[nodiscard]] DeclaredTool publish(DraftData draft, Result<Schema> input,
                                   std::string inferred_output, DeclaredHandler handler,
                                   const ExampleDecoder& decode_example);

/// The handler's result as an object. Errors: CallProblem::InvalidOutput.
[[nodiscard]] Result<Json> object_output(Result<Json> encoded);

/// What a handler returned, as JSON.
template <class Output>
[[nodiscard]] Result<Json> as_json(Output output) {
  if constexpr (std::same_as<Output, Json>) {
    return output;
  } else {
    return encode(output);
  }
}

/// Runs a check of arguments. A violation is the caller's; any other error, and whatever the check
/// throws, is the check's own and private. Errors: CallProblem::InvalidInput or ArgumentCheck.
[[nodiscard]] Result<> run_check(const std::function<Result<>()>& check);

}  // namespace detail

/// The draft that callbacks configure. Each setter returns the draft; keeping a reference beyond
/// the callback edits nothing that was published.
///
/// Threads: one thread.
template <Described In>
class ToolDraft {
 public:
  explicit ToolDraft(std::string name) { data_.name = std::move(name); }

  ToolDraft& description(std::string text) {
    data_.description = std::move(text);
    return *this;
  }
  /// Hints; until they are set: no title, false, true, false, true.
  ToolDraft& title(std::string text) {
    data_.annotations.title = std::move(text);
    return *this;
  }
  ToolDraft& read_only(bool value) {
    data_.annotations.read_only = value;
    return *this;
  }
  ToolDraft& destructive(bool value) {
    data_.annotations.destructive = value;
    return *this;
  }
  ToolDraft& idempotent(bool value) {
    data_.annotations.idempotent = value;
    return *this;
  }
  ToolDraft& open_world(bool value) {
    data_.annotations.open_world = value;
    return *this;
  }
  /// Who may see and call it; replaces an earlier one. Asked at every listing and every call,
  /// before the arguments are read. An empty one is a defect.
  ToolDraft& available(AvailabilityPolicy policy) {
    if (!policy) {
      data_.note("the availability policy is empty");
    }
    data_.availability = std::move(policy);
    return *this;
  }
  /// JSON Schema text of an object, served and enforced in place of the derived one.
  ToolDraft& input_schema(std::string schema) {
    data_.input_schema = std::move(schema);
    return *this;
  }
  /// JSON Schema text of an object, served in place of the derived one. It is enforced where the
  /// result is sent; see OutputCheck.
  ToolDraft& output_schema(std::string schema) {
    data_.output_schema = std::move(schema);
    return *this;
  }
  /// A check of decoded arguments, run once for each call. `violation()` blames the caller; any
  /// other error, and what it throws, says that the check failed, and stays private.
  ToolDraft& check(std::function<Result<>(const Context&, const In&)> rule) {
    if (!rule) {
      data_.note("the argument check is empty");
    }
    check_ = std::move(rule);
    return *this;
  }
  /// Namespace and command on a command line; the tool's name stays what it is.
  ToolDraft& cli(std::string group, std::string operation) {
    data_.cli.group = std::move(group);
    data_.cli.operation = std::move(operation);
    data_.wants_cli = true;
    return *this;
  }
  ToolDraft& group_summary(std::string text) {
    data_.cli.summary = std::move(text);
    data_.wants_cli = true;
    return *this;
  }
  ToolDraft& role(std::string word) {
    data_.cli.role = std::move(word);
    data_.wants_cli = true;
    return *this;
  }
  ToolDraft& cursor(bool value) {
    data_.cli.cursor = value;
    data_.wants_cli = true;
    return *this;
  }
  ToolDraft& positional(std::vector<std::string> names) {
    data_.cli.positional = std::move(names);
    data_.wants_cli = true;
    return *this;
  }
  /// Adds an example: JSON text of an object, decoded as strictly as arguments when the tool is
  /// published, and never run.
  ToolDraft& example(std::string text, std::string input) {
    data_.cli.examples.push_back({std::move(text), std::move(input)});
    data_.wants_cli = true;
    return *this;
  }
  /// The properties that have no setter of their own: sequential, resource(s), confined, replay,
  /// facts, closer. Everything else in `options` has no effect.
  ToolDraft& properties(ToolOptions options) {
    data_.properties = std::move(options);
    return *this;
  }

 private:
  template <Described Args, class Handler, class... Configure>
  friend DeclaredTool declare_tool(std::string name, Handler handler, Configure&&... configure);

  detail::DraftData data_;
  std::function<Result<>(const Context&, const In&)> check_;
};

/// A published tool, or a declaration with its first defect. Copies share one immutable state. A
/// default one is invalid.
///
/// Threads: thread-safe where handler, policy and check are.
class DeclaredTool {
 public:
  DeclaredTool();

  /// The first defect, with CallProblem::InvalidTool; null for a usable tool.
  [[nodiscard]] const Error* defect() const noexcept;
  /// Exactly as declared, valid or not.
  [[nodiscard]] const std::string& name() const noexcept;
  /// A detached report; of an invalid tool it may be incomplete. Runs neither handler nor policy.
  [[nodiscard]] ToolInfo describe() const;
  /// Whether the caller on `context` is offered the tool. Errors: the defect; the cancellation of
  /// `context`; CallProblem::Availability when the policy failed.
  [[nodiscard]] Result<bool> available(const Context& context) const;
  /// Checks availability, reads `args` (empty text is `{}`), and runs the handler once. The value
  /// is an object. What the handler throws passes through.
  ///
  /// Errors: the defect; the context's cancellation; each CallProblem with its cause; the handler's
  /// own error as it is.
  [[nodiscard]] Result<Json> call(const Context& context, std::string_view args = {}) const;
  /// The same tool behind one more policy, which is asked when the first one said yes. An empty
  /// policy makes a declaration with a defect.
  [[nodiscard]] DeclaredTool with_availability(AvailabilityPolicy policy) const;
  /// For executors, sets and servers: the result's text and structure are the output. Errors: the
  /// defect.
  [[nodiscard]] Result<ToolPtr> tool() const;

 private:
  friend DeclaredTool detail::publish(detail::DraftData draft, Result<Schema> input,
                                      std::string inferred_output, detail::DeclaredHandler handler,
                                      const ExampleDecoder& decode_example);
  struct State;
  explicit DeclaredTool(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// Declares a tool. The handler is called as `f(context, In)` and returns a described struct, Json,
/// or a Result of one. Each of `configure` is called once, in order, with the one draft, also when
/// that has a defect already; what it throws passes through, as does calling an empty function. The
/// handler and the policy are not run.
///
/// Arguments are exact: unknown members and `1.0` for an integer are wrong. A name has 1 to 128 of
/// A-Z a-z 0-9 _ . -.
template <Described In, class Handler, class... Configure>
[[nodiscard]] DeclaredTool declare_tool(std::string name, Handler handler,
                                        Configure&&... configure) {
  ToolDraft<In> draft(std::move(name));
  (configure(draft), ...);
  if (detail::is_empty_function(handler)) {
    draft.data_.note("the handler is empty");
  }
  using Output =
      typename detail::Unwrapped<std::invoke_result_t<const Handler&, const Context&, In>>::type;
  static_assert(Described<Output> || std::same_as<Output, Json>,
                "a handler returns a struct with a describe(), Json, or a Result of one");
  std::string inferred_output = R"({"type":"object"})";
  if constexpr (Described<Output>) {
    auto schema = schema_text_of<Output>();
    if (!schema) {
      draft.data_.note("output: " + schema.error().message());
    } else {
      inferred_output = *std::move(schema);
    }
  }
  const DecodeOptions decoding{.reject_unknown = true, .exact_integers = true};
  auto run = [handler = std::move(handler), check = draft.check_, decoding](
                 const Context& context, const Call&, const JsonNode& node) -> Result<Json> {
    auto args = decode<In>(node, decoding);
    if (!args) {
      return std::unexpected(
          args.error().wrap("invalid arguments").with_payload(CallProblem::InvalidInput));
    }
    if (check) {
      BAWN_TRY(detail::run_check([&] { return check(context, *args); }));
    }
    auto returned = handler(context, *std::move(args));
    if constexpr (detail::kIsResult<decltype(returned)>) {
      return detail::object_output(detail::as_json(BAWN_TRY(std::move(returned))));
    } else {
      return detail::object_output(detail::as_json(std::move(returned)));
    }
  };
  const auto decode_example = [decoding](std::string_view input) -> Result<> {
    BAWN_TRY(decode_text<In>(input, decoding));
    return {};
  };
  return detail::publish(std::move(draft.data_), schema_of<In>({.no_additional = true}),
                         std::move(inferred_output), std::move(run), decode_example);
}

}  // namespace bawn::contract
