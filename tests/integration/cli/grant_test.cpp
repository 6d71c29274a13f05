/// \file
/// `bawn mcp` and calls that ask for more, through a client that takes questions: what the user's
/// word opens, in both eras, and what `--grant never` leaves.
#include "bawn/contract/elicitation.hpp"
#include "bawn/mcp/client.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace bawn::test {
namespace {

using contract::Answer;
using contract::AnswerAction;
using contract::Context;
using contract::Json;
using contract::Outcome;
using mcp::EraChoice;
using testing::HasSubstr;
using testing::Not;

class Grant : public testing::TestWithParam<EraChoice> {
 protected:
  void SetUp() override { BAWN_REQUIRE("user-namespaces"); }
  void TearDown() override {
    tools_.clear();
    if (client_ != nullptr) {
      client_->close();
    }
    if (server_.is_open()) {
      server_.wait();
    }
  }
  void connect(std::vector<std::string> words, bool takes_questions = true) {
    auto to = os::Pipe::make();
    auto from = os::Pipe::make();
    ASSERT_TRUE(to && from);
    words.insert(words.begin(), {"bawn", "mcp", "--workspace", workspace_.path()});
    auto server = os::spawn(
        {.program = BAWN_PROGRAM,
         .argv = std::move(words),
         .env = {"PATH=/usr/bin:/bin", "HOME=/", "XDG_RUNTIME_DIR=" + state_.path().string(),
                 "XDG_STATE_HOME=" + state_.path().string()},
         .fds = {{to->read.get(), 0}, {from->write.get(), 1}}});
    ASSERT_TRUE(server) << server.error().message();
    server_ = *std::move(server);
    to->read.reset();
    from->write.reset();
    auto client =
        mcp::Client::connect(Context(), from->read.get(), to->write.get(),
                             {.era = GetParam(), .trusted = true, .elicitation = takes_questions});
    ASSERT_TRUE(client) << client.error().message();
    client_ = *client;
    auto tools = client_->tools(Context());
    ASSERT_TRUE(tools) << tools.error().message();
    tools_ = *std::move(tools);
  }
  Outcome bash(const std::string& command, Json request, const Answer& answer,
               Json arguments = Json::object()) {
    request["justification"] = "the test wants it";
    arguments["command"] = command;
    arguments["request"] = std::move(request);
    const auto tool = std::ranges::find_if(
        tools_, [](const auto& one) { return one->definition().name == "bash"; });
    const Context context = contract::with_elicitor(
        Context(), [this, answer](const Context&, const contract::Elicitation& question) {
          asked_.push_back(question.message);
          return contract::Result<Answer>(answer);
        });
    return (*tool)->execute(context, {.id = "1",
                                      .args = contract::dump_json(arguments),
                                      .idempotency_key = {},
                                      .on_update = {}});
  }
  static std::string text(const Outcome& outcome) {
    EXPECT_FALSE(outcome.error) << outcome.error->message();
    return contract::output_text(outcome.result);
  }
  [[nodiscard]] std::string made() const { return outside_.path() / "made"; }
  [[nodiscard]] std::string makes() const { return "echo x >" + made(); }
  [[nodiscard]] Json directory() const { return {{"write", {outside_.path().string()}}}; }

  TempDir workspace_{"/var/tmp"};
  TempDir outside_{"/var/tmp"};
  TempDir state_;
  os::Pidfd server_;
  std::shared_ptr<mcp::Client> client_;
  std::vector<contract::ToolPtr> tools_;
  std::vector<std::string> asked_;
};

const Answer kYes{.action = AnswerAction::Accept, .content = Json::object()};

TEST_P(Grant, AnAcceptedQuestionOpensItForThatCallAndTheReportSaysSo) {
  ASSERT_NO_FATAL_FAILURE(connect({}));
  const Outcome outcome = bash(makes(), directory(), kYes);
  EXPECT_THAT(text(outcome), HasSubstr("Granted for this call by the user: write "));
  EXPECT_TRUE(std::filesystem::exists(made()));
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_THAT(asked_[0], HasSubstr(makes()));
  EXPECT_THAT(asked_[0], HasSubstr(outside_.path().string()));
  EXPECT_THAT(asked_[0], HasSubstr("the test wants it"));
  ASSERT_TRUE(outcome.result.confinement);
  EXPECT_EQ(outcome.result.confinement->policy, "workspace-write + granted");
  EXPECT_TRUE(outcome.result.confinement->confirmed);
}

TEST_P(Grant, ADeclinedOrDismissedQuestionRunsNothing) {
  ASSERT_NO_FATAL_FAILURE(connect({}));
  for (const AnswerAction action : {AnswerAction::Decline, AnswerAction::Cancel}) {
    const Outcome outcome = bash(makes(), directory(), {.action = action, .content = {}});
    EXPECT_THAT(text(outcome), HasSubstr("was declined by the user; nothing ran"));
    EXPECT_FALSE(std::filesystem::exists(made()));
  }
  EXPECT_EQ(asked_.size(), 2U);
}

TEST_P(Grant, TheQuestionShowsAllThatDecidesWhatRuns) {
  ASSERT_NO_FATAL_FAILURE(connect({}));
  const std::string evil = workspace_.path() / "evil";
  (void)bash("sh", directory(), {.action = AnswerAction::Decline, .content = {}},
             {{"stdin", "echo planted" + std::string(2000, '#')},
              {"cwd", evil},
              {"env", {{"PATH", evil + ":/usr/bin"}}}});
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_THAT(asked_[0], HasSubstr("In the directory: \"" + evil + "\""));
  EXPECT_THAT(asked_[0], HasSubstr("With the variable \"PATH\": \"" + evil + ":/usr/bin\""));
  EXPECT_THAT(asked_[0], HasSubstr("With the input: \"echo planted"));
  EXPECT_THAT(asked_[0], HasSubstr("more bytes"));
}

TEST_P(Grant, AClientThatTakesNoQuestionsGrantsNothing) {
  ASSERT_NO_FATAL_FAILURE(connect({}, false));
  const Outcome outcome = bash(makes(), directory(), kYes);
  EXPECT_THAT(text(outcome), HasSubstr("its client takes no questions; nothing ran"));
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(std::filesystem::exists(made()));
}

TEST_P(Grant, NeverAsksWhereItsServerWasToldToGrantNothing) {
  ASSERT_NO_FATAL_FAILURE(connect({"--grant", "never"}));
  const Outcome outcome = bash(makes(), directory(), kYes);
  EXPECT_THAT(text(outcome), HasSubstr("declined by this server, which was started with --grant "
                                       "never; nothing ran"));
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(std::filesystem::exists(made()));
}

/// A server on the host's loopback that greets each connection.
class Greeter {
 public:
  Greeter() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), general, length), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    EXPECT_EQ(::getsockname(socket_.get(), general, &length), 0);
    port_ = ntohs(address.sin_port);
    greeting_ = std::thread([this] {
      for (;;) {
        const os::UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!peer.is_open()) {
          return;  // shut down
        }
        (void)::send(peer.get(), "hello\n", 6, MSG_NOSIGNAL);
      }
    });
  }
  ~Greeter() {
    (void)::shutdown(socket_.get(), SHUT_RDWR);
    greeting_.join();
  }
  Greeter(const Greeter&) = delete;
  Greeter& operator=(const Greeter&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  os::UniqueFd socket_;
  int port_ = 0;
  std::thread greeting_;
};

TEST_P(Grant, AGrantedHostIsReachedThroughTheProxyAndNoOther) {
  const Greeter named;
  const Greeter other;
  ASSERT_NO_FATAL_FAILURE(connect({"--policy", "workspace-net"}));
  // What the proxy says first, and behind its yes what the host says.
  const auto reach = [](int port, const char* reader) {
    return fmt::format(
        "exec 7<>/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}} && "
        "printf 'CONNECT 127.0.0.1:{0} HTTP/1.1\\r\\nHost: 127.0.0.1:{0}\\r\\n\\r\\n' >&7 && "
        "{1} <&7",
        port, reader);
  };
  const Json request = {{"hosts", {fmt::format("127.0.0.1:{}", named.port())}}};
  const Outcome granted = bash(reach(named.port(), "cat"), request, kYes);
  EXPECT_THAT(text(granted), HasSubstr("hello"));
  EXPECT_THAT(text(granted), HasSubstr("Granted for this call by the user: host 127.0.0.1:"));
  const Outcome elsewhere = bash(reach(other.port(), "head -n 1"), request, kYes);
  EXPECT_THAT(text(elsewhere), Not(HasSubstr("hello")));
  EXPECT_THAT(text(elsewhere), HasSubstr("403"));
}

INSTANTIATE_TEST_SUITE_P(Era, Grant, testing::Values(EraChoice::Legacy, EraChoice::Modern),
                         [](const auto& tested) {
                           return tested.param == EraChoice::Legacy ? "Legacy" : "Modern";
                         });

}  // namespace
}  // namespace bawn::test
