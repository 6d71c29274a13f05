/// \file
/// The shared vectors of admission: exact arguments, names, registries, guards and failures.
#include "bawn/contract/admission.hpp"
#include "bawn/contract/failure.hpp"
#include "bawn/contract/guard.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/registry.hpp"
#include "bawn/contract/wrap.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>

namespace bawn::contract {
namespace {

using bawn::test::expect_known_members;
using bawn::test::play_rows;
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

TEST(AdmissionVectors, ExactArgumentsAreAcceptedAndRejectedAsGiven) {  // C-92, C-95
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/scope_prepare.json");
  const auto check = [](const ToolPtr& tool, const Json& cases) {
    expect_known_members(cases, {"accepted", "rejected", "fields"});
    for (const auto& [words, wanted] :
         {std::pair("accepted", true), std::pair("rejected", false)}) {
      for (const Json& args : cases.at(words)) {
        EXPECT_EQ(is_accepted(tool, args), wanted) << args;
      }
    }
  };
  check(exact_tool<OptionalString>("text"), file.at("func_input_optional_string"));
  check(exact_tool<Representation>("representation"), file.at("representation"));
  expect_known_members(file.at("representation").at("fields"),
                       {"signed", "unsigned", "float", "bytes", "string_number", "value"});
}

TEST(AdmissionVectors, NamesFollowTheGivenPattern) {  // C-90
  BAWN_REQUIRE("shared-vectors");
  const Json names = vectors("mapping/scope_prepare.json").at("names");
  expect_known_members(names, {"pattern"});
  const std::regex pattern(names.at("pattern").get<std::string>());
  for (int byte = 1; byte < 256; ++byte) {
    const std::string name = "a" + std::string(1, static_cast<char>(byte));
    EXPECT_EQ(is_tool_name(name), std::regex_match(name, pattern)) << byte;
  }
  for (const std::size_t length : {0U, 1U, 64U, 65U}) {
    const std::string name(length, 'x');
    EXPECT_EQ(is_tool_name(name), std::regex_match(name, pattern)) << length;
  }
}

struct Sum {
  int a = 0;
  int b = 0;
  static constexpr auto describe() { return fields(field("a", &Sum::a), field("b", &Sum::b)); }
};

TEST(AdmissionVectors, TheGivenSumIsMade) {  // C-94, C-95
  BAWN_REQUIRE("shared-vectors");
  const Json add = vectors("mapping/scope_prepare.json").at("add");
  expect_known_members(add, {"args", "text", "unknown_member"});
  const auto binding =
      Binding::bind(make_tool<Sum>("add", "", [](const Context&, Sum sum) { return sum.a + sum.b; },
                                   {.additional_properties = false})
                        .value())
          .value();
  Json args = parse_json(add.at("args").get<std::string>()).value();
  const auto invocation = binding.contract().prepare({"c", "add", args.dump()}).value();
  EXPECT_EQ(output_text(binding.call({}, invocation).result), add.at("text").get<std::string>());
  args["unknown"] = 1;
  EXPECT_EQ(add.at("unknown_member"), "rejected");
  EXPECT_FALSE(binding.contract().prepare({"c", "add", args.dump()}));
}

struct Flag {
  bool ok = true;
  static constexpr auto describe() { return fields(field("ok", &Flag::ok)); }
};

/// What a typed function of the vector's kind comes to, called through a binding.
Outcome bound_outcome(const std::string& kind) {
  const std::map<std::string, std::function<Outcome()>> returned = {
      {"string", [] { return detail::to_outcome(std::string("plain")); }},
      {"struct {ok:true}", [] { return detail::to_outcome(Flag()); }},
      {R"(raw JSON {"ok":true})", [] { return detail::to_outcome(Json{{"ok", true}}); }},
      {"empty string", [] { return detail::to_outcome(std::string()); }},
      {"value and error",
       [] { return Outcome(text_result("dropped"), Error(ErrorCode::ToolFailed, "kept")); }},
      {"unserialisable",
       [] { return detail::to_outcome(std::numeric_limits<double>::quiet_NaN()); }}};
  const auto found = returned.find(kind);
  if (found == returned.end()) {
    ADD_FAILURE() << "nothing returns " << kind;
    return {};
  }
  const auto binding =
      Binding::bind(make_raw_tool("t", "", std::nullopt,
                                  [found](const Context&, const Call&) { return found->second(); })
                        .value())
          .value();
  return binding.call({}, binding.contract().prepare({"c", "t", ""}).value());
}

// The vectors have content and details, this contract text and structure: what is given as details
// stands in the structure, or is the text where the value was JSON and not a described struct.
TEST(AdmissionVectors, OutputsComeToWhatIsGiven) {  // C-63, C-95
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& entry) {
    const Outcome outcome = bound_outcome(entry.at("returns"));
    EXPECT_EQ(outcome.error.has_value(),
              entry.contains("error") || entry.contains("error_contains"));
    if (outcome.error) {
      EXPECT_EQ(output_text(outcome.result), "");
      EXPECT_THAT(outcome.error->message(), testing::AnyOf("kept", HasSubstr("encode result")));
      return;
    }
    const Json details = entry.value("details", Json());
    const std::string text = output_text(outcome.result);
    EXPECT_EQ(text,
              details.is_null() ? entry.at("text").get<std::string>() : details.get<std::string>());
    if (outcome.result.structured) {
      EXPECT_EQ(dump_json(*outcome.result.structured), details.get<std::string>());
    }
  };
  play_rows(vectors("mapping/scope_prepare.json").at("outputs"),
            {"returns", "value", "text", "content", "details", "error", "error_contains"}, play);
}

TEST(AdmissionVectors, AFailuresCauseIsForDiagnosisAlone) {  // C-102
  BAWN_REQUIRE("shared-vectors");
  const Json example = vectors("mapping/scope_prepare.json").at("failure").at("example");
  expect_known_members(example,
                       {"kind", "cause", "output", "wrapped_prints", "is(wrapped, cause)"});
  EXPECT_EQ(example.at("kind"), "rejected");
  const Error cause(ErrorCode::Closed, example.at("cause"));
  const Error wrapped =
      make_failure(FailureKind::Rejected, text_result(example.at("output")), cause)
          .value()
          .wrap("rejected");
  std::string printed = wrapped.message();
  std::erase(printed, ':');  // of our wrapping
  EXPECT_EQ(printed, example.at("wrapped_prints").get<std::string>());
  EXPECT_EQ(wrapped.is(ErrorCode::Closed), example.at("is(wrapped, cause)").get<bool>());
  EXPECT_EQ(wrapped.find<Failure>()->kind, FailureKind::Rejected);
  EXPECT_EQ(wrapped.causes().front().hidden_cause()->message(), cause.message());
}

TEST(AdmissionVectors, RegistriesNameTheFirstConflict) {  // C-120, C-121
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

TEST(AdmissionVectors, GuardsSayWhatIsGiven) {  // C-111, C-102
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

TEST(AdmissionVectors, ACancelledCallAsksNobody) {  // C-111
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/scope_prepare.json").at("guard");
  expect_known_members(file, {"refused", "policy_error", "cancelled_before"});
  const Json& cancelled = file.at("cancelled_before");
  expect_known_members(cancelled, {"authorizer_called", "executed"});
  int executed = 0;
  int asked = 0;
  const ToolPtr inner = make_raw_tool("search", "", std::nullopt, [&](const Context&, const Call&) {
                          ++executed;
                          return text_result("");
                        }).value();
  const ToolPtr guarded = guard(inner, [&](const Context&, const AuthorizationRequest&) {
                            ++asked;
                            return Result<bool>(true);
                          }).value();
  const CancelSource source{Context()};
  source.cancel();
  EXPECT_TRUE(guarded->execute(source.context(), {}).error->is(ErrorCode::Cancelled));
  EXPECT_EQ(asked, cancelled.at("authorizer_called").get<int>());
  EXPECT_EQ(executed, cancelled.at("executed").get<int>());
  EXPECT_FALSE(guarded->execute({}, {}).error) << "it would have run";
  EXPECT_EQ(asked + executed, 2);
}

}  // namespace
}  // namespace bawn::contract
