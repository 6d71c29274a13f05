/// \file
/// The shared vectors of how values map onto calls, results, records, failures and outcomes. Those
/// of the wire (content blocks, names and limits of a client) are run by tests/unit/mcp.
#include "bawn/contract/admission.hpp"
#include "bawn/contract/call_context.hpp"
#include "bawn/contract/declare.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/failure.hpp"
#include "bawn/contract/guard.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/outcome_class.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/contract/registry.hpp"
#include "bawn/contract/wrap.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bawn::contract {
namespace {

using bawn::test::vectors;
using testing::HasSubstr;

struct OptionalString {
  std::string value{};
  static constexpr auto describe() {
    return fields(field("value", &OptionalString::value).optional());
  }
};

/// An integer that travels as text, as the vectors want one.
struct NumberInText {
  int value = 0;
};
std::string to_text(const NumberInText& number) {
  return std::to_string(number.value);
}
Result<> from_text(std::string_view text, NumberInText& number) {
  const auto node = parse_json_node(text);
  DecodeState state{DecodeOptions{}};
  return node ? Codec<int>::decode(number.value, *node, state)
              : Result<>(std::unexpected(node.error()));
}

struct Representation {
  std::int8_t signed_value = 0;
  std::uint64_t unsigned_value = 0;
  float float_value = 0;
  std::vector<std::byte> bytes{};
  NumberInText string_number{};
  Json value{};
  static constexpr auto describe() {
    return fields(field("signed", &Representation::signed_value).optional(),
                  field("unsigned", &Representation::unsigned_value).optional(),
                  field("float", &Representation::float_value).optional(),
                  field("bytes", &Representation::bytes).optional(),
                  field("string_number", &Representation::string_number).optional(),
                  field("value", &Representation::value).optional());
  }
};

template <class Args>
ToolPtr exact_tool(std::string name) {
  return make_tool<Args>(std::move(name), "", [](const Context&, const Args&) { return "ran"; },
                         {.additional_properties = false, .exact_arguments = true})
      .value();
}

/// How one text fares: admitted by the contract, then decoded by the tool.
bool is_accepted(const ToolPtr& tool, const std::string& args) {
  const Binding binding = Binding::bind(tool).value();
  const auto invocation = binding.contract().prepare({"c", tool->definition().name, args});
  return invocation && !binding.call({}, *invocation).error;
}

TEST(MappingVectors, ExactArgumentsAreAcceptedAndRejectedAsGiven) {  // C-92, C-95
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/scope_prepare.json");
  const auto check = [](const ToolPtr& tool, const Json& cases) {
    for (const auto& [words, wanted] :
         {std::pair("accepted", true), std::pair("rejected", false)}) {
      for (const Json& args : cases.at(words)) {
        EXPECT_EQ(is_accepted(tool, args), wanted) << args;
      }
    }
  };
  check(exact_tool<OptionalString>("text"), file.at("func_input_optional_string"));
  check(exact_tool<Representation>("representation"), file.at("representation"));
}

TEST(MappingVectors, RegistriesNameTheFirstConflict) {  // C-120, C-121
  BAWN_REQUIRE("shared-vectors");
  const Json cases = vectors("mapping/scope_prepare.json").at("registry");
  Registry registry;
  EXPECT_EQ(
      registry.add({exact_tool<NoArgs>("same"), exact_tool<NoArgs>("same")}).error().message(),
      cases.at("batch_duplicate").get<std::string>());
  for (const char* name : {"h", "g", "f", "e", "d", "c", "b", "a"}) {
    ASSERT_TRUE(registry.add({exact_tool<NoArgs>(name)}));
  }
  std::vector<ToolPtr> batch;
  for (const Json& name : cases.at("first_conflict_in_batch_order")) {
    batch.push_back(exact_tool<NoArgs>(name));
  }
  EXPECT_EQ(registry.add(batch).error().message(), cases.at("registered").get<std::string>());
  EXPECT_EQ(registry.definitions().size(), 8U);
  EXPECT_EQ(registry.definitions().front().name, "a");
}

TEST(MappingVectors, GuardsSayWhatIsGiven) {  // C-111, C-102
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/scope_prepare.json");
  const Json& cases = file.at("guard");
  int executed = 0;
  const ToolPtr inner = make_raw_tool("search", "", std::nullopt, [&](const Context&, const Call&) {
                          ++executed;
                          return text_result("");
                        }).value();
  const auto refused =
      guard(inner, [](const Context&, const AuthorizationRequest&) { return Result<bool>(false); })
          .value()
          ->execute({}, {});
  EXPECT_EQ(output_text(refused.error->find<Failure>()->output),
            cases.at("refused").at("output_text").get<std::string>());
  const auto failed = guard(inner,
                            [](const Context&, const AuthorizationRequest&) -> Result<bool> {
                              return fail(ErrorCode::Closed, "private");
                            })
                          .value()
                          ->execute({}, {});
  EXPECT_EQ(failed.error->message(), cases.at("policy_error").at("text").get<std::string>());
  EXPECT_FALSE(failed.error->is(ErrorCode::Closed));
  EXPECT_TRUE(failed.error->hidden_cause());
  EXPECT_EQ(executed, cases.at("refused").at("executed").get<int>());
  EXPECT_EQ(kMaxWrapDepth, file.at("wrap_depth_max").get<std::size_t>());
}

struct Doubled {
  int doubled = 4;
  static constexpr auto describe() { return fields(field("doubled", &Doubled::doubled)); }
};

/// What a typed function of the vector's kind returns.
Outcome returned(const Json& entry) {
  const std::string kind = entry.value("returns", "error_result");
  if (kind == "string") {
    return detail::to_outcome(entry.at("value").get<std::string>());
  }
  if (kind == "struct") {
    return detail::to_outcome(Doubled());
  }
  if (kind == "parts") {
    return detail::to_outcome(entry.at("value").get<std::vector<Part>>());
  }
  if (kind == "result") {
    ToolResult result = text_result(entry.at("value").at("text"));
    result.terminate = entry.at("value").at("terminate");
    result.details = std::make_shared<const Details>();
    return detail::to_outcome(std::move(result));
  }
  if (kind == "empty optional/pointer") {
    return detail::to_outcome(std::optional<std::string>());
  }
  if (kind == "unserialisable") {
    return detail::to_outcome(std::numeric_limits<double>::quiet_NaN());
  }
  if (kind == "error") {
    return detail::to_outcome(Error(ErrorCode::ToolFailed, entry.at("message")));
  }
  if (kind == "error_result") {
    return error_result(Error(ErrorCode::ToolFailed, entry.at("error_result_of")));
  }
  return detail::to_outcome(entry.at("value"));  // integer, bool, array: their JSON
}

TEST(MappingVectors, TypedOutputsBecomeTheGivenResults) {  // C-63, C-64, C-100
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/output.json");
  for (const Json& entry : file.at("cases")) {
    const Outcome outcome = returned(entry);
    SCOPED_TRACE(entry.dump());
    EXPECT_EQ(outcome.error.has_value(), entry.contains("error") || entry.contains("error_prefix"));
    if (entry.contains("text")) {
      EXPECT_EQ(output_text(outcome.result), entry.at("text").get<std::string>());
    }
    if (entry.contains("error_prefix")) {
      EXPECT_THAT(outcome.error->message(),
                  testing::StartsWith(entry.at("error_prefix").get<std::string>()));
    }
    if (entry.contains("model_sees")) {
      EXPECT_EQ(output_text(model_result(outcome)), entry.at("model_sees").get<std::string>());
    }
    if (entry.contains("parts")) {
      EXPECT_EQ(std::get<std::vector<Part>>(outcome.result.output).size(),
                entry.at("parts").get<std::size_t>());
    }
    EXPECT_EQ(outcome.result.terminate, entry.value("terminate", false));
    EXPECT_EQ(outcome.result.details != nullptr, entry.value("details_kept", false));
  }
}

/// Details of the kinds that the vectors name in words.
class Unserialisable final : public Details {
 public:
  std::string record_namespace() const override { return "bad"; }
  Result<Json> record_json() const override { return fail(ErrorCode::Internal, "cannot"); }
};

std::shared_ptr<const Details> details_of(const Json& words) {
  const std::string text = words.is_string() ? words.get<std::string>() : "";
  const auto record = [](std::string name_space, std::string_view data) {
    return std::make_shared<const RecordDetails>(
        Record{std::move(name_space), parse_json(data).value()});
  };
  if (text.starts_with("recordable shell:container")) {
    return record("shell:container", R"({"container":"c1"})");
  }
  if (text.starts_with("recordable with its own serialiser")) {
    return record("shaped", R"({"n":3})");
  }
  if (text == "recordable with empty namespace") {
    return record("", "{}");
  }
  if (text.starts_with("handle pgid ")) {
    return record("shell:process-group", R"({"pgid":)" + text.substr(12) + "}");
  }
  if (text.find("bad") != std::string::npos) {
    return std::make_shared<const Unserialisable>();
  }
  return text.empty() ? nullptr : std::make_shared<const Details>();
}

TEST(MappingVectors, RecordsAreReadAndWrittenAsGiven) {  // C-151, C-152, C-153
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/record_of.json");
  for (const Json& entry : file.at("cases")) {
    SCOPED_TRACE(entry.dump());
    const auto record = record_of(details_of(entry.at("details")).get());
    if (entry.contains("error_contains")) {
      for (const Json& part : entry.at("error_contains")) {
        EXPECT_THAT(record.error().message(), HasSubstr(part.get<std::string>()));
      }
    } else if (entry.at("record").is_null()) {
      EXPECT_FALSE(record.value());
    } else {
      EXPECT_EQ(record.value()->name_space, entry.at("record").at("ns").get<std::string>());
      EXPECT_EQ(dump_json(record.value()->data), entry.at("record").at("data").get<std::string>());
    }
  }
  for (const Json& entry : file.at("write_record")) {
    SCOPED_TRACE(entry.dump());
    int calls = 0;
    const Recorder recorder = [&](const Context&, const Record& record) -> Result<> {
      ++calls;
      if (entry.contains("got")) {
        EXPECT_EQ(dump_json(record.data), entry.at("got").at("data").get<std::string>());
      }
      return entry.contains("recorder_error")
                 ? Result<>(fail(ErrorCode::Internal, entry.at("recorder_error")))
                 : Result<>();
    };
    const Json& installed = entry.at("recorder");
    Context context = installed == false ? Context() : with_recorder(Context(), recorder);
    if (installed.is_string()) {
      context = with_recorder(context, {});
    }
    const auto written = write_record(context, details_of(entry.at("details")).get());
    EXPECT_EQ(calls, entry.at("calls").get<int>());
    EXPECT_EQ(written.has_value(), !entry.contains("error_contains"));
    if (!written) {
      EXPECT_THAT(written.error().message(),
                  HasSubstr(entry.at("error_contains").get<std::string>()));
    }
  }
}

struct EchoArgs {
  std::string id{};
  static constexpr auto describe() { return fields(field("id", &EchoArgs::id)); }
};

DeclaredTool failing(Error error) {
  return declare_tool<NoArgs>("t", [error](const Context&, NoArgs) -> Result<Json> {
    return std::unexpected(error.wrap("private context"));
  });
}

TEST(MappingVectors, DeclaredToolsAnswerAsGiven) {  // C-12, C-67, C-106, C-107, C-108, C-113
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/arkoren.json");
  const auto echo =
      declare_tool<EchoArgs>("documents.echo", [](const Context&, EchoArgs args) { return args; });
  for (const Json& entry : file.at("cases")) {
    SCOPED_TRACE(entry.dump());
    if (entry.contains("tool") && entry.contains("output")) {
      const auto tool =
          entry.at("args").is_null()
              ? declare_tool<NoArgs>("status", [](const Context&, NoArgs) { return NoArgs(); })
              : echo;
      const std::string args =
          entry.at("args").is_null() ? "" : entry.at("args").get<std::string>();
      EXPECT_EQ(dump_json(tool.call({}, args).value()), entry.at("output").get<std::string>());
    } else if (entry.contains("args")) {
      const auto answer = echo.call({}, entry.at("args").get<std::string>());
      ASSERT_FALSE(answer);
      EXPECT_EQ(to_string(call_problem(answer.error()).value()),
                entry.at("error").get<std::string>());
    }
  }
  EXPECT_EQ(Json(std::vector<bool>{Annotations{}.read_only, Annotations{}.destructive,
                                   Annotations{}.idempotent, Annotations{}.open_world}),
            Json::parse("[false,true,false,true]"));
  for (const Json& role : file.at("cli_roles")) {
    EXPECT_TRUE(check_cli_info({.group = "g", .operation = "o", .role = role}, Json::object()));
  }
}

TEST(MappingVectors, DeclaredToolsApproveWhatIsGiven) {  // C-106, C-107, C-108
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/arkoren.json");
  const auto approved = [](const DeclaredTool& tool) {
    return approved_failure(tool.call({}).error());
  };
  EXPECT_EQ(approved(failing(tool_error("document is not available")))->message,
            "document is not available");
  EXPECT_EQ(approved(failing(tool_error("")))->message, "");
  EXPECT_FALSE(approved(failing(Error(ErrorCode::Internal, "unmarked"))));
  const auto failure =
      approved(failing(tool_failure("unavailable", "capture is disabled", Json{{"retry", false}})));
  EXPECT_EQ(failure->code, "unavailable");
  EXPECT_EQ(dump_json(*failure->details), R"({"retry":false})");
  EXPECT_FALSE(approved(failing(tool_failure("", "m"))));
  EXPECT_FALSE(approved(failing(tool_failure("c", "m", Json::array()))));
  // Each class of the vectors' last rows, with an approval in its cause.
  const auto closed = [](const Context&) -> Result<bool> {
    return std::unexpected(tool_error("x"));
  };
  const auto unavailable = failing(tool_error("x")).with_availability(closed).call({}, "{");
  EXPECT_EQ(call_problem(unavailable.error()), CallProblem::Availability);
  EXPECT_FALSE(approved_failure(unavailable.error()));
  const auto checked = declare_tool<NoArgs>(
      "t", [](const Context&, NoArgs) { return NoArgs(); },
      [](ToolDraft<NoArgs>& draft) {
        draft.check([](const Context&, const NoArgs&) -> Result<> {
          return std::unexpected(tool_error("x").wrap("the database is down"));
        });
      });
  const auto broken = checked.call({});
  EXPECT_EQ(to_string(call_problem(broken.error()).value()), "input schema");
  EXPECT_FALSE(approved_failure(broken.error()));
  EXPECT_EQ(disclosed_text(broken.error(), ErrorDisclosure::ApprovedOnly), "the tool failed");
}

TEST(MappingVectors, OutcomesAndSafetyAreClassedAsGiven) {  // C-104, C-105
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/limits.json");
  const auto safety_in = [](const Json& words) {
    if (words.value("read_only", false)) {
      return Safety::ReadOnly;
    }
    return words.value("idempotent", false) ? Safety::Idempotent : Safety::SideEffect;
  };
  for (const Json& entry : file.at("safety")) {
    const Json& hints = entry.at("annotations");
    const Annotations annotations{.read_only = hints.value("readOnlyHint", false),
                                  .idempotent = hints.value("idempotentHint", false)};
    const auto stated = entry.contains("with_safety")
                            ? std::optional(safety_in(entry.at("with_safety")))
                            : std::nullopt;
    EXPECT_EQ(safety_of(annotations, entry.at("trusted"), stated), safety_in(entry.at("safety")))
        << entry;
  }
  const Error lost(ErrorCode::Closed, "connection lost");
  for (const Json& entry : file.at("outcomes")) {
    const bool unknown = entry.at("class") == "unknown";
    const Error error = unknown ? as_unknown_outcome(lost).wrap("mcp") : lost;
    EXPECT_EQ(settle(error, Safety::SideEffect), unknown ? Settlement::Halt : Settlement::Failure);
    EXPECT_EQ(settle(error, Safety::ReadOnly), Settlement::Failure);
  }
}

TEST(MappingVectors, AnswersThatAreNoneAreFailures) {  // C-155
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/elicitation.json");
  const auto ask = [](const Json& words) {
    const std::string elicitor = words;
    const Elicitor answering = [elicitor](const Context&, const Elicitation&) -> Result<Answer> {
      if (elicitor == "error") {
        return fail(ErrorCode::Closed, "nobody is there");
      }
      if (elicitor == "unknown action") {
        return Answer{.action = BAWN_TRY(answer_action("maybe"))};
      }
      return Answer{.action = AnswerAction::Accept, .content = Json::array()};
    };
    return elicit(elicitor == "none" ? Context() : with_elicitor(Context(), answering),
                  {.message = "?"});
  };
  int compared = 0;
  for (const Json& entry : file.at("consume")) {
    if (!entry.contains("elicitor")) {
      continue;  // of the wire
    }
    const auto answer = ask(entry.at("elicitor"));
    EXPECT_EQ(answer ? std::string(to_string(answer->action)) : "failure",
              entry.at("server_hears").get<std::string>());
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

}  // namespace
}  // namespace bawn::contract
