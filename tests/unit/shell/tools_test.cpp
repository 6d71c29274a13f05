// The tools as a host sees them: definitions, results that conform to their schemas, text that is
// complete in itself.
#include "bawn/shell/tools.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/shell/session_pool.hpp"
#include "fake_warden.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>
#include <set>
#include <tuple>

namespace bawn::test {
namespace {

using contract::Context;
using contract::Json;
using contract::Outcome;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Starts sessions without a wall.
class OpenPool final : public shell::SessionPool {
 public:
  using SessionPool::SessionPool;
  [[nodiscard]] contract::Confinement confinement(const std::string& name) const override {
    contract::Confinement forecast;
    forecast.policy = "forecast";
    const auto session = find(name);
    return session == nullptr ? forecast : session->confinement();
  }

 protected:
  [[nodiscard]] contract::Result<std::shared_ptr<shell::Session>> start(
      shell::SessionConfig config) override {
    const std::string directory =
        BAWN_TRY(shell::Session::prepare_directory(config.state_dir, geteuid(), getegid()));
    return shell::Session::start_inside(std::move(config), directory, FakeWarden::make(),
                                        {"PATH=/usr/bin:/bin"});
  }
};

class ToolsTest : public ::testing::Test {
 protected:
  ToolsTest() {
    shell::SessionConfig config;
    config.workspace = workspace_.path();
    config.state_dir = state_.path();
    pool_ = std::make_shared<OpenPool>(config, 2);
    tools_ = shell::make_shell_tools(pool_);
  }
  ~ToolsTest() override { pool_->close_all(); }

  contract::ToolPtr tool(const std::string& name) const {
    for (const auto& one : tools_) {
      if (one->definition().name == name) {
        return one;
      }
    }
    ADD_FAILURE() << "no tool " << name;
    return nullptr;
  }
  /// Calls it; a result without an error must conform to the tool's output schema.
  Outcome call(const std::string& name, const Json& args, const Context& context = Context()) {
    const auto one = tool(name);
    Outcome outcome = one->execute(
        context,
        {.id = "1", .args = contract::dump_json(args), .idempotency_key = {}, .on_update = {}});
    if (!outcome.error) {
      const auto schema = contract::JsonSchema::compile_text(*one->properties().output_schema);
      EXPECT_TRUE(schema);
      EXPECT_TRUE(outcome.result.structured.has_value());
      const auto fits = schema->validate(*outcome.result.structured);
      EXPECT_TRUE(fits) << (fits ? "" : fits.error().message());
    }
    return outcome;
  }
  static std::string text(const Outcome& outcome) {
    return std::get<std::string>(outcome.result.output);
  }

  TempDir workspace_;
  TempDir state_;
  std::shared_ptr<OpenPool> pool_;
  std::vector<contract::ToolPtr> tools_;
};

TEST_F(ToolsTest, AllAreThereWithHintsSchemasAndShortDescriptions) {
  std::set<std::string> names;
  for (const auto& one : tools_) {
    const auto& definition = one->definition();
    names.insert(definition.name);
    EXPECT_LE(definition.name.size(), 20U);
    EXPECT_LE(definition.description.size(), 2048U);
    EXPECT_TRUE(contract::annotations_of(*one).has_value()) << definition.name;
    ASSERT_TRUE(one->properties().output_schema.has_value()) << definition.name;
    const auto schema = contract::parse_json(*one->properties().output_schema);
    ASSERT_TRUE(schema);
    EXPECT_EQ((*schema)["type"], "object") << definition.name;
    EXPECT_TRUE(contract::JsonSchema::compile_text(*definition.parameters));
  }
  EXPECT_EQ(names, (std::set<std::string>{"bash", "bash_input", "bash_kill", "bash_output",
                                          "bash_restart", "exec"}));
}

TEST_F(ToolsTest, CallsOfOneShellAreOrderedAndOthersAreNot) {
  const auto resources = [&](const char* name, const char* args) {
    return contract::resources_of(*tool(name), contract::Context(), args);
  };
  const std::string shell = resources("bash", R"({"command":":"})").at(0);
  EXPECT_EQ(resources("bash", R"({"command":":","session":"main"})"),
            std::vector<std::string>{shell});
  EXPECT_NE(resources("bash", R"({"command":":","session":"other"})"),
            std::vector<std::string>{shell});
  // It waits for somebody's answer, and then has a wall of its own.
  EXPECT_TRUE(resources("bash", R"({"command":":","request":{"justification":"x"}})").empty());
  // These act on calls that run.
  for (const char* name : {"bash_restart", "bash_kill", "bash_input", "bash_output", "exec"}) {
    EXPECT_TRUE(resources(name, "{}").empty()) << name;
  }
}

TEST_F(ToolsTest, BashTellsStatusOutputAndErrors) {
  const auto outcome =
      call("bash", {{"command", "echo out; echo err >&2; (exit 3) | cat; (exit 2)"}});
  ASSERT_FALSE(outcome.error);
  EXPECT_EQ(text(outcome), "exit 2\nout\n--- stderr ---\nerr\n");
  const Json& result = *outcome.result.structured;
  EXPECT_EQ(result["state"], "finished");
  EXPECT_EQ(result["reason"], "exited");
  EXPECT_EQ(result["exit_code"], 2);
  EXPECT_EQ(result["stdout"], "out\n");
  EXPECT_EQ(result["stderr"], "err\n");
  EXPECT_EQ(result["session"], "main");
  EXPECT_EQ(result["stdout_counts"]["bytes"], 4);
  EXPECT_TRUE(outcome.result.confinement.has_value());
  EXPECT_EQ(text(call("bash", {{"command", "cd /"}})), "exit 0\n[working directory: /]\n");
}

TEST_F(ToolsTest, EveryKindOfEndConformsToTheSchema) {
  EXPECT_THAT(text(call("bash", {{"command", "echo \"x"}})),
              StartsWith("syntax error, nothing ran"));
  EXPECT_THAT(text(call("bash", {{"command", "cat <<E\nx"}})),
              StartsWith("incomplete here-document"));
  EXPECT_THAT(text(call("bash", {{"command", "false | true"}})),
              StartsWith("exit 0 (pipeline 1 0)"));
  EXPECT_THAT(text(call("bash", {{"command", "exit 4"}})), HasSubstr("[the shell ended"));
  EXPECT_THAT(text(call("bash", {{"command", "kill -9 $$"}})), StartsWith("killed by SIGKILL"));
  EXPECT_THAT(text(call("bash", {{"command", "sleep 600"}, {"timeout_ms", 50}})),
              StartsWith("timed out, stopped by INT, exit 130"));
  EXPECT_THAT(text(call("bash", {{"command", "yes"}, {"output_limit_bytes", 1000}})),
              StartsWith("printed more than its output limit"));
  EXPECT_THAT(text(call("bash", {{"command", "set -x"}})),
              HasSubstr("shell options taken back: xtrace"));
  EXPECT_THAT(text(call("bash", {{"command", "seq 100000"}, {"max_output_bytes", 1000}})),
              HasSubstr("bash_output with call"));
  EXPECT_THAT(text(call("exec", {{"argv", {"sh", "-c", "kill -TERM $$"}}})),
              StartsWith("killed by SIGTERM"));
}

TEST_F(ToolsTest, ARunningCallIsFollowedListedAndKilled) {
  const auto running = call("bash", {{"command", "echo a; sleep 600"}, {"yield_ms", 0}});
  EXPECT_THAT(text(running), StartsWith("running: call "));
  const std::string id = (*running.result.structured)["call"];
  const auto busy = call("bash", {{"command", "true"}});
  ASSERT_TRUE(busy.error);
  EXPECT_THAT(busy.error->message(), HasSubstr(id));
  EXPECT_THAT(text(call("bash_output", Json::object())), HasSubstr(id + " bash running"));
  const auto killed = call("bash_kill", {{"call", id}});
  EXPECT_THAT(text(killed), StartsWith("cancelled, stopped by INT"));
  const auto again = call("bash_output", {{"call", id}, {"stdout_from", 0}});
  EXPECT_EQ((*again.result.structured)["result"]["stdout"], "a\n");
  EXPECT_EQ(call("bash_output", {{"call", "none"}}).error->code(), contract::ErrorCode::NotFound);
}

TEST_F(ToolsTest, ExecTakesArgvOrCommand) {
  EXPECT_EQ(text(call("exec", {{"argv", {"echo", "$HOME", "a b"}}})), "exit 0\n$HOME a b\n");
  EXPECT_EQ(text(call("exec", {{"command", "echo"}, {"args", {"x"}}})), "exit 0\nx\n");
  EXPECT_EQ(text(call("exec", {{"argv", {"sh", "-c", "echo $V; cat; pwd"}},
                               {"env", {{"V", "1"}}},
                               {"stdin", "in\n"},
                               {"cwd", "/"}})),
            "exit 0\n[working directory: /]\n1\nin\n/\n");
  EXPECT_THAT(call("exec", Json::object()).error->message(), StartsWith("invalid arguments:"));
  EXPECT_THAT(call("exec", {{"argv", {"a"}}, {"command", "b"}}).error->message(),
              StartsWith("invalid arguments:"));
}

TEST_F(ToolsTest, ArgumentsOutOfBoundsAreRefused) {
  for (const Json& args :
       {Json{{"command", "true"}, {"yield_ms", 45'001}},
        Json{{"command", "true"}, {"timeout_ms", 0}}, Json{{"command", "true"}, {"timeout_ms", -1}},
        Json{{"command", "true"}, {"nonsense", 1}}, Json{{"command", 7}}, Json::object()}) {
    const auto outcome = call("bash", args);
    ASSERT_TRUE(outcome.error) << args.dump();
    EXPECT_THAT(outcome.error->message(), StartsWith("invalid arguments:"));
  }
  EXPECT_TRUE(call("bash", {{"command", "true"}, {"session", "../x"}}).error);
}

TEST_F(ToolsTest, SessionsAreApartAndBounded) {
  std::ignore = call("bash", {{"command", "V=1"}, {"session", "one"}});
  EXPECT_EQ(text(call("bash", {{"command", "echo \"[$V]\""}, {"session", "two"}})), "exit 0\n[]\n");
  const auto third = call("bash", {{"command", "true"}, {"session", "three"}});
  ASSERT_TRUE(third.error);
  EXPECT_EQ(third.error->code(), contract::ErrorCode::ResourceExhausted);
}

TEST_F(ToolsTest, ClientsDoNotShareASessionOfOneName) {
  const Context one = contract::with_session(Context(), "client one");
  const Context two = contract::with_session(Context(), "client two");
  const auto first = call("bash", {{"command", "V=1"}}, one);
  EXPECT_EQ((*first.result.structured)["session"], "main");
  EXPECT_EQ(text(call("bash", {{"command", "echo \"[$V]\""}}, two)), "exit 0\n[]\n");
  EXPECT_EQ(text(call("bash", {{"command", "echo \"[$V]\""}}, one)), "exit 0\n[1]\n");
}

TEST_F(ToolsTest, RestartGivesAFreshShellOrTheOldState) {  // C-230
  EXPECT_EQ(call("bash_restart", Json::object()).error->code(), contract::ErrorCode::NotFound);
  std::ignore = call("bash", {{"command", "V=1"}});
  EXPECT_EQ((*call("bash_restart", {{"keep_state", true}}).result.structured)["state"],
            "from_last_snapshot");
  EXPECT_EQ(text(call("bash", {{"command", "echo \"[$V]\""}})), "exit 0\n[1]\n");
  EXPECT_EQ((*call("bash_restart", Json::object()).result.structured)["state"], "lost");
  EXPECT_EQ(text(call("bash", {{"command", "echo \"[$V]\""}})), "exit 0\n[]\n");
}

TEST_F(ToolsTest, ConfinementIsForecastBeforeTheSessionAndReportedAfter) {
  EXPECT_EQ(contract::confined_by(*tool("bash"), Context(), "{}").policy, "forecast");
  std::ignore = call("bash", {{"command", "true"}});
  EXPECT_EQ(contract::confined_by(*tool("bash"), Context(), "{}").policy, "none");
  EXPECT_EQ(contract::confined_by(*tool("bash"), Context(), R"({"session":"other"})").policy,
            "forecast");
}

TEST_F(ToolsTest, TheProcessGroupIsRecordedBeforeTheCommandActs) {  // C-154, C-230
  std::vector<contract::Record> records;
  bool acted_before = false;
  const Context context = contract::with_recorder(
      Context(), [&](const Context&, const contract::Record& record) -> contract::Result<> {
        acted_before = acted_before || std::filesystem::exists(workspace_.path() / "acted");
        records.push_back(record);
        return {};
      });
  const auto outcome = call("bash", {{"command", "touch acted"}}, context);
  ASSERT_FALSE(records.empty());
  const auto ended = contract::record_of(outcome.result.details.get());
  ASSERT_TRUE(ended && *ended) << "the record describes the end as well";
  EXPECT_EQ((*ended)->name_space, "shell:process-group");
  EXPECT_FALSE(acted_before);
  EXPECT_EQ(records.front().name_space, "shell:process-group");
  for (const char* member :
       {"sid", "pid", "start_time", "boot_id", "session", "call", "warden_pid"}) {
    EXPECT_TRUE(records.front().data.contains(member)) << member;
  }
  records.clear();
  EXPECT_TRUE(std::filesystem::remove(workspace_.path() / "acted"));
  std::ignore = call("exec", {{"argv", {"touch", "acted"}}}, context);
  EXPECT_TRUE(std::filesystem::exists(workspace_.path() / "acted"));
  ASSERT_FALSE(records.empty());
  EXPECT_FALSE(acted_before);
  EXPECT_TRUE(records.front().data.contains("pgid"));
}

TEST_F(ToolsTest, ARecorderThatFailsKeepsTheCommandFromRunning) {
  const Context context = contract::with_recorder(
      Context(), [](const Context&, const contract::Record&) -> contract::Result<> {
        return contract::fail(contract::ErrorCode::ResourceExhausted, "disk full");
      });
  EXPECT_TRUE(call("bash", {{"command", "touch acted"}}, context).error);
  EXPECT_TRUE(call("exec", {{"argv", {"touch", "acted"}}}, context).error);
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "acted"));
  EXPECT_EQ(text(call("bash", {{"command", "echo ok"}})), "exit 0\nok\n");
}

}  // namespace
}  // namespace bawn::test
