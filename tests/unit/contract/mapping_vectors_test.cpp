/// \file
/// The shared vectors of how values map onto results, records, outcomes and questions. Those of the
/// wire (content blocks, names and limits of a client) are run by tests/unit/mcp.
#include "bawn/contract/call_context.hpp"
#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/outcome_class.hpp"
#include "bawn/contract/record.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace bawn::contract {
namespace {

using bawn::test::play_rows;
using bawn::test::vectors;
using testing::HasSubstr;

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
  EXPECT_TRUE(kind == "integer" || kind == "bool" || kind == "array") << kind;
  return detail::to_outcome(entry.at("value"));  // their JSON
}

TEST(MappingVectors, TypedOutputsBecomeTheGivenResults) {  // C-63, C-64, C-100
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/output.json");
  const auto play = [](const Json& entry) {
    const Outcome outcome = returned(entry);
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
    if (entry.value("returns", "") == "error") {
      EXPECT_EQ(outcome.error->message(), entry.at("error").get<std::string>());
    }
  };
  play_rows(file.at("cases"),
            {"returns", "value", "text", "parts", "terminate", "details_kept", "error_prefix",
             "message", "error", "model_sees", "error_result_of"},
            play);
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
  EXPECT_TRUE(words.is_null() || text == "progress info" || text == "plain string") << words;
  return text.empty() ? nullptr : std::make_shared<const Details>();
}

TEST(MappingVectors, RecordsAreReadAsGiven) {  // C-151
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/record_of.json");
  play_rows(file.at("cases"), {"details", "record", "error_contains"}, [](const Json& entry) {
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
  });
}

TEST(MappingVectors, RecordsAreWrittenAsGiven) {  // C-152, C-153
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& entry) {
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
  };
  play_rows(vectors("mapping/record_of.json").at("write_record"),
            {"recorder", "details", "calls", "got", "error", "error_contains", "recorder_error"},
            play);
}

TEST(MappingVectors, SafetyIsReadAsGiven) {  // C-104
  BAWN_REQUIRE("shared-vectors");
  const Json file = vectors("mapping/limits.json");
  const auto safety_in = [](const Json& words) {
    if (words.value("read_only", false)) {
      return Safety::ReadOnly;
    }
    return words.value("idempotent", false) ? Safety::Idempotent : Safety::SideEffect;
  };
  const auto play = [&](const Json& entry) {
    const Json& hints = entry.at("annotations");
    const Annotations annotations{.read_only = hints.value("readOnlyHint", false),
                                  .idempotent = hints.value("idempotentHint", false)};
    const auto stated = entry.contains("with_safety")
                            ? std::optional(safety_in(entry.at("with_safety")))
                            : std::nullopt;
    EXPECT_EQ(safety_of(annotations, entry.at("trusted"), stated), safety_in(entry.at("safety")));
  };
  play_rows(file.at("safety"), {"annotations", "trusted", "safety", "with_safety"}, play);
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
  int of_the_wire = 0;
  play_rows(file.at("consume"),
            {"elicitor", "server_hears", "protocol", "calls_in_flight", "option", "call_returns",
             "call_cancelled_with_question_open", "call_error_contains"},
            [&](const Json& entry) {
              if (!entry.contains("elicitor")) {
                ++of_the_wire;  // tests/unit/mcp plays them
                return;
              }
              const auto answer = ask(entry.at("elicitor"));
              EXPECT_EQ(answer ? std::string(to_string(answer->action)) : "failure",
                        entry.at("server_hears").get<std::string>());
            });
  EXPECT_EQ(of_the_wire, 6);
}

}  // namespace
}  // namespace bawn::contract
