/// \file
/// Tools out of functions. `make_tool<Args>` derives schema, validation and decoding from a
/// described struct; `make_raw_tool` takes the arguments as text.
///
///     auto tool = make_tool<ReadArgs>("read_file", "Read a file from disk",
///         [](const Context&, const Call&, ReadArgs args) { return read(args.path); },
///         {.annotations = Annotations{.read_only = true, .destructive = false}});
#pragma once

#include "bawn/contract/call_problem.hpp"
#include "bawn/contract/decode.hpp"
#include "bawn/contract/encode.hpp"
#include "bawn/contract/tool.hpp"

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

/// All that may be said about a tool beside its name, description and function. Only `strict`,
/// `parameters` and `additional_properties` change what the model reads.
struct ToolOptions {
  bool strict = false;
  bool sequential = false;
  std::string resource{};
  decltype(Properties::resources) resources{};
  std::optional<Annotations> annotations{};
  decltype(Properties::confined) confined{};
  decltype(Properties::replay) replay{};
  decltype(Properties::facts) facts{};
  decltype(Properties::availability) availability{};
  std::shared_ptr<Closer> closer{};
  /// How a command line presents it; checked when the tool is made (C-220).
  std::optional<CliInfo> cli{};
  /// JSON Schema text to serve in place of the derived one. It turns validation off: the decoder
  /// remains.
  std::optional<std::string> parameters{};
  /// Serve the derived schema but do not validate by it: the decoder remains.
  bool without_validation = false;
  /// JSON Schema text of the structured output; derived when the function always returns a
  /// described struct.
  std::optional<std::string> output_schema{};
  /// False: the derived schema says `additionalProperties: false` everywhere, and an unknown
  /// member of the arguments is an error that names it. True: it is ignored.
  bool additional_properties = true;
  /// Decode as the admission layer wants it (C-95): unknown members are errors, and `1.0` is no
  /// integer.
  bool exact_arguments = false;
};

/// What the model and the harness get from a raw function.
using RawFunction = std::function<Outcome(const Context&, const Call&)>;

namespace detail {

using ArgsFunction = std::function<Outcome(const Context&, const Call&, const JsonNode&)>;

[[nodiscard]] Result<ToolPtr> build_typed_tool(std::string name, std::string description,
                                               Result<Schema> schema, ArgsFunction function,
                                               ToolOptions options,
                                               const ExampleDecoder& decode_example);

[[nodiscard]] std::unexpected<Error> construction_error(std::string_view maker,
                                                        std::string_view name,
                                                        std::string_view problem);

[[nodiscard]] Outcome json_outcome(Result<Json> json, bool structured);

/// What a function always gives when it succeeds. Not what is in an optional: an empty one has no
/// structure, so that none can be promised.
template <class R>
struct Unwrapped {
  using type = R;
};
template <class R>
struct Unwrapped<Result<R>> : Unwrapped<R> {};

template <class R>
inline constexpr bool kIsResult = false;
template <class R>
inline constexpr bool kIsResult<Result<R>> = true;

/// What a typed function returned, as an outcome (C-63).
template <class R>
Outcome to_outcome(R value) {
  if constexpr (std::same_as<R, Outcome>) {
    return value;
  } else if constexpr (std::convertible_to<R, Outcome>) {  // ToolResult, Error
    return Outcome(std::move(value));
  } else if constexpr (kIsResult<R>) {
    if (!value) {
      return Outcome(std::move(value).error());
    }
    if constexpr (std::is_void_v<typename R::value_type>) {
      return Outcome(text_result(""));
    } else {
      return to_outcome(*std::move(value));
    }
  } else if constexpr (kIsOptional<R>) {
    return value ? to_outcome(*std::move(value)) : Outcome(text_result(""));
  } else if constexpr (std::same_as<R, Json>) {
    return json_outcome(std::move(value), false);
  } else if constexpr (std::convertible_to<R, std::string>) {
    return text_result(std::move(value));
  } else if constexpr (std::same_as<R, std::vector<Part>>) {
    ToolResult result;
    result.output = std::move(value);
    return result;
  } else {
    return json_outcome(encode(value), Described<R>);
  }
}

template <class Function, class... Arguments>
Outcome invoke_to_outcome(const Function& function, Arguments&&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Function&, Arguments...>>) {
    function(std::forward<Arguments>(arguments)...);
    return text_result("");
  } else {
    return to_outcome(function(std::forward<Arguments>(arguments)...));
  }
}

template <class Function>
[[nodiscard]] bool is_empty_function(const Function& function) {
  if constexpr (requires { function == nullptr; }) {
    return function == nullptr;
  } else {
    return false;
  }
}

}  // namespace detail

/// A tool over a described struct. The function is called as `f(context, call, Args)` or
/// `f(context, Args)`, from many threads at once, and may return: an Outcome or ToolResult as it
/// is; text; parts; a described struct (its JSON as text *and* as `structured`, with the output
/// schema derived); any other encodable value (its JSON as text); nothing; an Error; or a Result
/// or optional of these, where an empty optional is the empty text without structure: for an
/// optional no output schema is derived.
///
/// Arguments are parsed, validated and decoded before the call (C-48); each failure is an Error
/// that begins "invalid arguments:".
///
/// Before anything else the tool asks `availability`, when it has one: see `check_available`.
///
/// Errors: InvalidArgument, naming the tool, when the type cannot be expressed (recursive, a map
/// under strict, a bad enum value), the name is empty, a supplied schema is no JSON object, the
/// function is empty, or `cli` has a defect.
template <class Args, class Function>
[[nodiscard]] Result<ToolPtr> make_tool(std::string name, std::string description,
                                        Function function, ToolOptions options = {}) {
  static_assert(Described<Args>, "a tool's arguments must be a struct with a describe()");
  if (detail::is_empty_function(function)) {
    return detail::construction_error("make_tool", name, "the function is empty");
  }
  constexpr bool kTakesCall = std::invocable<const Function&, const Context&, const Call&, Args>;
  const DecodeOptions decoding{
      .reject_unknown = options.strict || !options.additional_properties || options.exact_arguments,
      .exact_integers = options.exact_arguments};
  auto run = [decoding, function](const Context& context, const Call& call,
                                  const JsonNode& node) -> Outcome {
    auto args = decode<Args>(node, decoding);
    if (!args) {
      return args.error().wrap("invalid arguments").with_payload(CallProblem::InvalidInput);
    }
    if constexpr (kTakesCall) {
      return detail::invoke_to_outcome(function, context, call, *std::move(args));
    } else {
      return detail::invoke_to_outcome(function, context, *std::move(args));
    }
  };
  auto returned = [&] {
    if constexpr (kTakesCall) {
      return std::type_identity<
          std::invoke_result_t<const Function&, const Context&, const Call&, Args>>();
    } else {
      return std::type_identity<std::invoke_result_t<const Function&, const Context&, Args>>();
    }
  }();
  using Output = typename detail::Unwrapped<typename decltype(returned)::type>::type;
  if constexpr (Described<Output>) {
    if (!options.output_schema) {
      options.output_schema = BAWN_TRY(schema_text_of<Output>());
    }
  }
  auto schema =
      schema_of<Args>({.strict = options.strict, .no_additional = !options.additional_properties});
  const auto decode_example = [](std::string_view input) -> Result<> {
    BAWN_TRY(decode_text<Args>(input, {.reject_unknown = true, .exact_integers = true}));
    return {};
  };
  return detail::build_typed_tool(std::move(name), std::move(description), std::move(schema),
                                  std::move(run), std::move(options), decode_example);
}

/// A tool that reads its arguments itself. `parameters` is JSON Schema text of an object, kept byte
/// for byte, or none for a tool without arguments; it is not enforced. Of the options,
/// `parameters`, `without_validation` and `additional_properties` have no effect.
///
/// Errors: InvalidArgument, naming the tool: an empty function or name, or a schema that is no JSON
/// object.
[[nodiscard]] Result<ToolPtr> make_raw_tool(std::string name, std::string description,
                                            std::optional<std::string> parameters,
                                            RawFunction function, ToolOptions options = {});

}  // namespace bawn::contract
