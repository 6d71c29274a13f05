/// \file
/// Calls that ask for more: what a yes opens, for one call; what a no leaves; and that nothing
/// opens by itself.

#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/shell/tools.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace bawn::test {
namespace {

using contract::Context;
using contract::Json;
using contract::Outcome;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class EscalationTest : public ::testing::Test {
 protected:
  EscalationTest() {
    config_.policy = *sandbox::preset("workspace-write");
    config_.policy.secrets.push_back(secret());
    config_.workspace = workspace_.path();
    config_.state_dir = state_.path();
    config_.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"};
    std::filesystem::create_directories(vault_.path() / "secret");
    vault_.write("secret/key", "the key\n");
    workspace_.write(".envrc", "");
    if (geteuid() == 0) {  // commands run as the workspace's owner
      for (const auto& path : {workspace_.path(), workspace_.path() / ".envrc", outside_.path(),
                               vault_.path(), vault_.path() / "secret"}) {
        EXPECT_EQ(chown(path.c_str(), kOwner, kOwner), 0);
      }
    }
    EXPECT_EQ(chmod(workspace_.path().c_str(), 0755), 0);
    EXPECT_EQ(chmod(outside_.path().c_str(), 0755), 0);
    EXPECT_EQ(chmod(vault_.path().c_str(), 0755), 0);
  }
  ~EscalationTest() override {
    if (pool_ != nullptr) {
      pool_->close_all();
    }
  }
  [[nodiscard]] std::string outside(const char* name) const {
    return (outside_.path() / name).string();
  }
  [[nodiscard]] std::string secret() const { return (vault_.path() / "secret").string(); }

  Outcome call(const std::string& name, Json arguments, const Context& context = Context()) {
    if (pool_ == nullptr) {
      pool_ = std::make_shared<shell::SessionPool>(config_);
      tools_ = shell::make_shell_tools(pool_, {.escalator = escalator_});
    }
    for (const auto& tool : tools_) {
      if (tool->definition().name == name) {
        return tool->execute(context, {.id = "1",
                                       .args = contract::dump_json(arguments),
                                       .idempotency_key = {},
                                       .on_update = {}});
      }
    }
    ADD_FAILURE() << "no tool " << name;
    return {};
  }
  Outcome asking(const std::string& command, Json request, const Context& context = Context()) {
    if (!request.contains("justification")) {
      request["justification"] = "the test needs it";
    }
    return call("bash", {{"command", command}, {"request", std::move(request)}}, context);
  }
  static Json structured(const Outcome& outcome) {
    EXPECT_FALSE(outcome.error) << outcome.error->message();
    return outcome.result.structured.value_or(Json::object());
  }
  /// Answers every decision with this and keeps what was asked.
  void decide(shell::EscalationDecision decision) {
    escalator_ = [this, decision](const Context&, const shell::EscalationRequest& request) {
      asked_.push_back(request);
      return contract::Result<shell::EscalationDecision>(decision);
    };
  }
  Context answering(contract::Answer answer) {
    return contract::with_elicitor(
        Context(), [this, answer](const Context&, const contract::Elicitation& question) {
          questions_.push_back(question);
          return contract::Result<contract::Answer>(answer);
        });
  }

  static constexpr uid_t kOwner = 4242;
  TempDir workspace_;
  TempDir outside_;
  TempDir vault_;  // holds a secret
  TempDir state_;
  shell::SessionConfig config_;
  shell::Escalator escalator_;
  std::vector<shell::EscalationRequest> asked_;
  std::vector<contract::Elicitation> questions_;
  std::shared_ptr<shell::SessionPool> pool_;
  std::vector<contract::ToolPtr> tools_;
};

TEST_F(EscalationTest, GrantedOpensTheDirectoryForThatCallOnlyAndTheReportSaysSo) {
  decide({.granted = true, .by = "the host"});
  const std::string write = "echo x > " + outside("made");
  const auto before = call("bash", {{"command", write}});
  EXPECT_NE(structured(before)["exit_code"], 0);
  EXPECT_TRUE(asked_.empty()) << "a failed call asked by itself";
  const auto granted = asking(write, {{"write", {outside_.path().string()}}});
  EXPECT_EQ(structured(granted)["exit_code"], 0) << structured(granted);
  EXPECT_TRUE(std::filesystem::exists(outside("made")));
  const auto& report = granted.result.confinement;
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->confined);
  EXPECT_TRUE(report->confirmed);
  EXPECT_EQ(report->policy, "workspace-write + granted");
  EXPECT_NE(report->policy_id, before.result.confinement->policy_id);
  EXPECT_THAT(report->notes, Contains(HasSubstr("Granted for this call by the host: write " +
                                                outside_.path().string())));
  EXPECT_THAT(structured(granted)["notes"].dump(), HasSubstr("Granted for this call"));
  const auto after = call("bash", {{"command", "rm " + outside("made")}});
  EXPECT_NE(structured(after)["exit_code"], 0);
  EXPECT_EQ(after.result.confinement->policy_id, before.result.confinement->policy_id);
}

TEST_F(EscalationTest, TheRestOfTheWallStands) {
  decide({.granted = true, .by = "the host"});
  const auto result = structured(asking(
      "echo x > /var/tmp/../lib/bawn-test; echo x > /etc/bawn-test; cat " + secret() + "/key",
      {{"write", {outside_.path().string()}}}));
  EXPECT_NE(result["exit_code"], 0);
  EXPECT_THAT(result["stdout"].get<std::string>(), Not(HasSubstr("the key")));
  EXPECT_FALSE(std::filesystem::exists("/etc/bawn-test"));
  EXPECT_FALSE(std::filesystem::exists("/var/lib/bawn-test"));
}

TEST_F(EscalationTest, ExecAsksTheSameWay) {
  decide({.granted = true, .by = "the host"});
  const auto result = call(
      "exec", {{"argv", {"touch", outside("made")}},
               {"request", {{"write", {outside_.path().string()}}, {"justification", "needed"}}}});
  EXPECT_EQ(structured(result)["exit_code"], 0) << structured(result);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].tool, "exec");
  EXPECT_EQ(asked_[0].command, "touch " + outside("made"));
  EXPECT_EQ(asked_[0].justification, "needed");
}

TEST_F(EscalationTest, DeclinedRunsNothing) {
  decide({.granted = false, .by = "the host"});
  const auto outcome = asking("echo x > ran", {{"write", {outside_.path().string()}}});
  const Json result = structured(outcome);
  EXPECT_EQ(result["reason"], "denied");
  EXPECT_THAT(result["message"].get<std::string>(), HasSubstr("declined by the host; nothing ran"));
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
  EXPECT_EQ(outcome.result.confinement->policy, "workspace-write");
}

TEST_F(EscalationTest, WithNobodyToAskTheAnswerIsNo) {
  const Json result = structured(asking("echo x > ran", {{"write", {outside_.path().string()}}}));
  EXPECT_EQ(result["reason"], "denied");
  EXPECT_THAT(result["message"].get<std::string>(), HasSubstr("nobody"));
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
}

TEST_F(EscalationTest, TheUserIsAskedInWordsThatCannotFoolATerminal) {
  const auto context = answering({.action = contract::AnswerAction::Accept, .content = {}});
  const auto outcome =
      asking("true \x1b[2J",
             {{"write", {outside_.path().string()}}, {"justification", "please\x1b[8m"}}, context);
  EXPECT_EQ(structured(outcome)["exit_code"], 0);
  ASSERT_EQ(questions_.size(), 1U);
  EXPECT_THAT(questions_[0].message, HasSubstr("write " + outside_.path().string()));
  EXPECT_THAT(questions_[0].message, HasSubstr("please"));
  EXPECT_THAT(questions_[0].message, Not(HasSubstr("\x1b")));
  EXPECT_FALSE(questions_[0].schema);
  for (const auto action : {contract::AnswerAction::Decline, contract::AnswerAction::Cancel}) {
    const auto no = asking("echo x > ran", {{"write", {outside_.path().string()}}},
                           answering({.action = action, .content = {}}));
    EXPECT_EQ(structured(no)["reason"], "denied");
  }
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
}

TEST_F(EscalationTest, ASecretNeedsAWordOfItsOwn) {
  const std::string command = "cat " + secret() + "/key";
  const Json request = {{"write", {vault_.path().string()}}, {"read", {secret()}}};
  const auto plain = asking(command, request,
                            answering({.action = contract::AnswerAction::Accept, .content = {}}));
  EXPECT_EQ(structured(plain)["reason"], "denied");
  EXPECT_THAT(structured(plain)["message"].get<std::string>(), HasSubstr("word of its own"));
  const auto no = asking(command, request,
                         answering({.action = contract::AnswerAction::Accept,
                                    .content = Json{{"open_secrets", false}}}));
  EXPECT_EQ(structured(no)["reason"], "denied");
  const auto yes = asking(command, request,
                          answering({.action = contract::AnswerAction::Accept,
                                     .content = Json{{"open_secrets", true}}}));
  EXPECT_EQ(structured(yes)["stdout"], "the key\n") << structured(yes);
  EXPECT_TRUE(questions_[0].schema);
  EXPECT_NE(structured(call("bash", {{"command", command}}))["exit_code"], 0);
}

TEST_F(EscalationTest, AProtectedNameNeedsAWordOfItsOwn) {
  BAWN_REQUIRE("user-namespaces");
  if (const char* off = getenv("BAWN_FEATURES_OFF");
      off != nullptr && std::string_view(off).find("namespaces") != std::string_view::npos) {
    GTEST_SKIP() << "protected names are held by mounts only";
  }
  const std::string command = "echo x > .envrc";
  const Json request = {{"write", {(workspace_.path() / ".envrc").string()}}};
  EXPECT_NE(structured(call("bash", {{"command", command}}))["exit_code"], 0);
  const auto plain = asking(command, request,
                            answering({.action = contract::AnswerAction::Accept, .content = {}}));
  EXPECT_EQ(structured(plain)["reason"], "denied");
  const auto yes = asking(command, request,
                          answering({.action = contract::AnswerAction::Accept,
                                     .content = Json{{"open_protected", true}}}));
  EXPECT_EQ(structured(yes)["exit_code"], 0) << structured(yes);
  EXPECT_EQ(read_file(workspace_.path() / ".envrc"), "x\n");
}

TEST_F(EscalationTest, AGrantedCallThatFailsIsNotTriedAgain) {
  decide({.granted = true, .by = "the host"});
  const auto result =
      structured(asking("echo x >> count; exit 3", {{"write", {outside_.path().string()}}}));
  EXPECT_EQ(result["exit_code"], 3);
  EXPECT_EQ(read_file(workspace_.path() / "count"), "x\n");
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(EscalationTest, BadRequestsAreRefusedBeforeAnybodyIsAsked) {
  decide({.granted = true, .secrets = true, .protected_names = true, .by = "the host"});
  const std::string dir = outside_.path().string();
  for (const auto& [arguments, words] : std::vector<std::pair<Json, std::string>>{
           {{{"request", {{"write", {dir}}}}}, "justification"},
           {{{"request", {{"write", {dir}}, {"justification", " "}}}}, "must say why"},
           {{{"request", {{"justification", "x"}}}}, "names 1 to 16"},
           {{{"request", {{"write", {"rel"}}, {"justification", "x"}}}}, "must begin with /"},
           {{{"request", {{"write", {"/"}}, {"justification", "x"}}}}, "never writable"},
           {{{"request", {{"hosts", {"a b"}}, {"justification", "x"}}}}, "host"},
           {{{"request", {{"wirte", {dir}}, {"justification", "x"}}}}, "wirte"},
           {{{"request", "all"}}, "request"},
           {{{"background", true}, {"request", {{"write", {dir}}, {"justification", "x"}}}},
            "background"}}) {
    Json all = arguments;
    all["command"] = "echo x > ran";
    const auto outcome = call("bash", all);
    ASSERT_TRUE(outcome.error) << all;
    EXPECT_THAT(std::string(outcome.error->message()), HasSubstr(words));
    EXPECT_THAT(std::string(outcome.error->message()), HasSubstr("invalid arguments"));
  }
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
}

TEST_F(EscalationTest, AFailureToAskIsAnErrorAndNoYes) {
  escalator_ = [](const Context&, const shell::EscalationRequest&) {
    return contract::Result<shell::EscalationDecision>(
        contract::fail(contract::ErrorCode::Internal, "the door is stuck"));
  };
  const auto outcome = asking("echo x > ran", {{"write", {outside_.path().string()}}});
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(std::string(outcome.error->message()), HasSubstr("the door is stuck"));
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "ran"));
}

}  // namespace
}  // namespace bawn::test
