#include "bawn/contract/tool.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/set.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <latch>
#include <map>
#include <mutex>

namespace bawn::contract {
namespace {

class Least final : public Tool {
 public:
  Least() : Tool({.name = "least"}, {}) {}
  Outcome execute(const Context&, const Call& call) const override {
    return text_result("ran " + call.args);
  }
};

TEST(Tool, ADefinitionAndAnExecuteAreACompleteTool) {  // C-1, C-2, C-6
  const Least tool;
  EXPECT_EQ(tool.definition().name, "least");
  EXPECT_EQ(tool.definition().description, "");
  EXPECT_FALSE(tool.definition().parameters);
  EXPECT_EQ(dump_json(to_json(tool.definition()).value()),
            R"({"type":"function","name":"least","description":"","parameters":)" +
                std::string(kNoArgsSchema) + "}");
  EXPECT_TRUE(canonical_definition(tool.definition()));
  EXPECT_TRUE(definition_hash(tool.definition()));
  EXPECT_EQ(output_text(tool.execute({}, {.id = "c", .args = "{}"}).result), "ran {}");
  EXPECT_EQ(tool.unwrap(), nullptr);
}

struct Args {
  std::string path{};
  static constexpr auto describe() { return fields(field("path", &Args::path)); }
};

std::string hash_with(ToolOptions options) {
  const auto tool =
      make_tool<Args>("t", "d", [](const Context&, const Args&) {}, std::move(options));
  return definition_hash(tool.value()->definition()).value();
}

class NullCloser final : public Closer {
 public:
  Result<> close() override { return {}; }
};

TEST(Tool, OnlyStrictAndTheSchemaChangeWhatTheModelReads) {  // C-2, C-9
  const std::string plain = hash_with({});
  EXPECT_EQ(plain, hash_with({.sequential = true}));
  EXPECT_EQ(plain, hash_with({.resource = "shell:a"}));
  EXPECT_EQ(plain, hash_with({.annotations = Annotations{.title = "T"}}));
  EXPECT_EQ(plain, hash_with({.confined = [](const Context&, std::string_view) {
              return Confinement{.confined = true};
            }}));
  EXPECT_EQ(plain,
            hash_with({.replay = [](const Context&, std::string_view) { return Replay::Safe; }}));
  EXPECT_EQ(plain, hash_with({.closer = std::make_shared<NullCloser>()}));
  EXPECT_EQ(plain, hash_with({.cli = CliInfo{.group = "g", .operation = "o"}}));
  EXPECT_EQ(plain, hash_with({.without_validation = true}));
  EXPECT_NE(plain, hash_with({.strict = true}));
  EXPECT_NE(plain, hash_with({.parameters = R"({"type":"object"})"}));
}

TEST(Tool, AnEmptyFunctionIsAsIfTheOptionWereNotGiven) {  // C-9
  const ToolPtr tool = make_tool<Args>("t", "", [](const Context&, const Args&) {},
                                       {.confined = {}, .replay = {}, .facts = {}})
                           .value();
  EXPECT_FALSE(confined_by(*tool, {}, "{}").confined);
  EXPECT_EQ(replay_of(*tool, {}, "{}", "key"), Replay::Unknown);
  EXPECT_FALSE(is_factual(*tool));
}

TEST(Tool, StrictIsTrueForADerivedSchemaAndAClaimForASuppliedOne) {  // C-72
  const auto with_map = [](ToolOptions options) {
    struct Labels {
      std::map<std::string, int> labels{};
      static constexpr auto describe() { return fields(field("labels", &Labels::labels)); }
    };
    return make_tool<Labels>("t", "", [](const Context&, const Labels&) {}, std::move(options));
  };
  EXPECT_FALSE(with_map({.strict = true}));
  EXPECT_FALSE(is_strict(**with_map({})));
  struct Name {
    std::optional<std::string> name{};
    static constexpr auto describe() { return fields(field("name", &Name::name)); }
  };
  const auto derived =
      make_tool<Name>("t", "", [](const Context&, const Name&) {}, {.strict = true}).value();
  EXPECT_TRUE(is_strict(*derived));
  EXPECT_EQ(derived->definition().parameters,
            R"({"type":"object","properties":{"name":{"type":["string","null"]}},)"
            R"("required":["name"],"additionalProperties":false})");
  const auto supplied = with_map({.strict = true, .parameters = R"({"type":"object"})"});
  EXPECT_TRUE(is_strict(**supplied));
}

TEST(Tool, EveryRunnerPutsTheCallOnItsContext) {  // C-61
  std::string seen;
  const ToolPtr tool =
      make_raw_tool("t", "", std::nullopt, [&](const Context& context, const Call&) {
        const Call* const call = call_from(context);
        seen = call != nullptr ? call->id : "none";
        return text_result("");
      }).value();
  (void)Executor().results({}, {{.tool = tool, .call = {.id = "from the executor"}}});
  EXPECT_EQ(seen, "from the executor");
}

TEST(Tool, TheCallersTextReachesTheToolByteForByte) {  // C-60
  std::string seen;
  const ToolPtr tool = make_raw_tool("t", "", std::nullopt, [&](const Context&, const Call& call) {
                         seen = call.args + "|" + call.idempotency_key;
                         return text_result("");
                       }).value();
  const std::string args = "{ \"b\" : 1.50e3,\t\"a\":9007199254740993 }";
  (void)Executor().results(
      {}, {{.tool = tool, .call = {.id = "c", .args = args, .idempotency_key = "k"}}});
  EXPECT_EQ(seen, args + "|k");
}

TEST(Tool, DetailsNeverReachTheModel) {  // C-62
  ToolResult result = text_result("for the model");
  result.details = std::make_shared<const Details>();
  result.terminate = true;
  const ToolResult model = model_result(Outcome(result));
  EXPECT_EQ(output_text(model), "for the model");
  EXPECT_EQ(model.details, result.details);
  EXPECT_TRUE(model.terminate);
}

TEST(Tool, PartsPassThroughUnchangedUnknownOnesToo) {  // C-65
  const std::vector<Part> parts = {Json{{"type", "input_image"}, {"image_url", "data:,"}},
                                   Json{{"type", "hologram"}, {"rays", 3}}};
  const auto outcomes = Executor().results(
      {}, {{.tool = make_raw_tool("t", "", std::nullopt,
                                  [&](const Context&, const Call&) { return parts_result(parts); })
                        .value(),
            .call = {.id = "c"}}});
  EXPECT_EQ(std::get<std::vector<Part>>(outcomes.front().result.output), parts);
}

/// Counts how often it is closed.
class CountingCloser final : public Closer {
 public:
  Result<> close() override {
    ++closed;
    return {};
  }
  int closed = 0;
};

TEST(Tool, ClosingIsTheHostsAndNobodyElses) {  // C-79, C-158
  const auto closer = std::make_shared<CountingCloser>();
  ToolPtr tool = make_raw_tool("t", "", std::nullopt,
                               [](const Context&, const Call&) { return text_result("ran"); },
                               {.closer = closer})
                     .value();
  (void)Executor().results({}, {{.tool = tool, .call = {.id = "c"}}});
  EXPECT_EQ(closer->closed, 0);
  const Set set({tool});
  EXPECT_TRUE(set.close());
  EXPECT_TRUE(set.close());  // safe; what it means is the closer's
  EXPECT_EQ(closer->closed, 2);
  EXPECT_EQ(output_text(tool->execute({}, {}).result), "ran");
  tool.reset();
  EXPECT_EQ(closer->closed, 2);
}

TEST(Tool, CancellingTheContextIsTheInterruptAndAPartialResultStands) {  // C-156
  std::latch started(1);
  const ToolPtr tool =
      make_raw_tool("t", "", std::nullopt, [&](const Context& context, const Call&) {
        started.count_down();
        std::mutex mutex;
        std::condition_variable_any never;
        std::unique_lock lock(mutex);
        never.wait(lock, context.stop_token(), [] { return false; });
        return text_result("half of it");
      }).value();
  const CancelSource source{Context()};
  Batch batch = Executor().start(source.context(), {{.tool = tool, .call = {.id = "c"}}});
  started.wait();
  source.cancel();
  const auto event = batch.next();
  EXPECT_FALSE(event->outcome.error);
  EXPECT_EQ(output_text(event->outcome.result), "half of it");
}

TEST(Tool, OrderIsKeptWithinOneBatchAndNotBetweenTwo) {  // C-141
  std::latch both_inside(2);
  const ToolPtr tool = make_raw_tool("t", "", std::nullopt,
                                     [&](const Context&, const Call&) {
                                       both_inside.arrive_and_wait();
                                       return text_result("met");
                                     },
                                     {.resource = "shell:a"})
                           .value();
  const std::vector<Job> job = {{.tool = tool, .call = {.id = "c"}}};
  Batch one = Executor().start({}, job);
  Batch other = Executor().start({}, job);
  EXPECT_EQ(output_text(one.next()->outcome.result), "met");
  EXPECT_EQ(output_text(other.next()->outcome.result), "met");
}

}  // namespace
}  // namespace bawn::contract
