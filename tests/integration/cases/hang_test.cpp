// Hangs, and pipes that somebody holds open.
#include "cases.hpp"
#include "support/requirements.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace bawn::test {
namespace {

using contract::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using HangCase = CasesTest;

TEST_F(HangCase, ProcessSubstitutionThatHoldsTheOutput) {
  const Json first = sh("exec > >(tee -a t.log) 2>&1; echo hi");
  EXPECT_LT(took, kAtOnce);
  EXPECT_EQ(first["exit_code"], 0);
  // What tee prints later stays with its call.
  Json late;
  do {
    late = result("bash_output", {{"call", first["call"]}, {"stdout_from", 0}});
  } while (late.value("stdout", "x").empty());
  EXPECT_EQ(late["stdout"], "hi\n");
  EXPECT_EQ(sh("echo next")["stdout"], "next\n");
}

TEST_F(HangCase, GrandchildKeepsThePipeOfAnEndedProgram) {
  const Json ended = exec({"bash", "-c", "sleep 60 & echo important; exit 3"});
  EXPECT_LT(took, kAtOnce);
  EXPECT_EQ(ended["stdout"], "important\n");
  EXPECT_EQ(ended["exit_code"], 3);
  EXPECT_THAT(survivors(ended), Not(IsEmpty()));
}

TEST_F(HangCase, TimeoutReachesTheChildrenOfTheWrapper) {
  const Json ended =
      exec({"bash", "-c", "mkfifo p; (while :; do echo x; sleep 0.1; done) > p & cat p"},
           {{"timeout_ms", 600}});
  EXPECT_EQ(ended["reason"], "timeout");
  EXPECT_THAT(ended["stdout"].get<std::string>(), HasSubstr("x\n"));
  EXPECT_THAT(survivors(ended), IsEmpty());
  EXPECT_LT(took, Milliseconds(600) + kAtOnce);
}

TEST_F(HangCase, NewSessionIsNamedAndEndsWithItsCall) {
  const Json ended = sh("setsid sleep 600 & echo ok");
  EXPECT_LT(took, kAtOnce);
  EXPECT_EQ(ended["stdout"], "ok\n");
  EXPECT_THAT(survivors(ended), Not(IsEmpty()));
}

TEST_F(HangCase, RuntimeDoesNotWaitForTheEndOfThePipe) {
  const Json ended = exec({"sh", "-c", "sleep 6 & echo hi"}, {{"timeout_ms", 1000}});
  EXPECT_LT(took, Milliseconds(1000));
  EXPECT_EQ(ended["stdout"], "hi\n");
}

TEST_F(HangCase, QuietBackgroundChild) {
  EXPECT_EQ(sh("echo done; (sleep 30) &")["stdout"], "done\n");
  EXPECT_LT(took, kAtOnce);
}

TEST_F(HangCase, ServerInTheBackgroundGoesOn) {
  BAWN_REQUIRE("python3");
  const Json begun = sh(
      "python3 -c 'import socket,time; s=socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen(); "
      "open(\"up\",\"w\"); c,_=s.accept(); c.sendall(b\"served\"); c.close()' & "
      "while ! test -e up; do sleep 0.02; done; echo up");
  EXPECT_EQ(begun["stdout"], "up\n");
  EXPECT_EQ(sh("python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"s\"); "
               "print(s.recv(9).decode())'")["stdout"],
            "served\n");
}

TEST_F(HangCase, StandardInputByItsPath) {
  EXPECT_EQ(sh("cat /dev/stdin; seq 2 | cat < /dev/stdin")["stdout"], "1\n2\n");
  EXPECT_LT(took, kAtOnce);
}

TEST_F(HangCase, PagerWithoutATerminal) {
  EXPECT_EQ(sh("seq 500 | less | tail -1")["stdout"], "500\n");
  EXPECT_EQ(sh("echo next")["stdout"], "next\n");
}

TEST_F(HangCase, LongHereDocumentIsByteExact) {
  std::string body;
  for (int i = 0; i < 5000; ++i) {
    body += fmt::format("line {} 'with' \"quotes\" $and `ticks`\\\n", i);
  }
  const Json made = sh("cat > f <<'EOF'\n" + body + "EOF\nwc -c < f");
  EXPECT_EQ(made["stdout"], fmt::format("{}\n", body.size()));
  EXPECT_LT(took, kAtOnce);
}

TEST_F(HangCase, OutputThatLooksLikeAPromptIsNoPrompt) {
  const Json ended = sh("printf 'collecting ...'; sleep 0.5; echo done");
  EXPECT_EQ(ended["stdout"], "collecting ...done\n");
  EXPECT_GE(took, Milliseconds(500));
}

TEST_F(HangCase, ExitWithABackgroundJob) {
  const Json ended = sh("sleep 600 & exit 1");
  EXPECT_EQ(ended["exit_code"], 1);
  EXPECT_EQ(ended["shell_restarted"], true);
  EXPECT_THAT(survivors(ended), Not(IsEmpty()));
}

}  // namespace
}  // namespace bawn::test
