/// \file
/// `bawn run`: exit statuses, streams, timeout, report, and one sentence for every failure of ours.

#include "bawn_program.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>

namespace bawn::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(BawnRunTest, GivesTheCommandsStatusAndStreams) {
  const TempDir workspace;
  const auto result = run_program(run_in(workspace, "echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.exit_code, 7) << result.err;
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(BawnRunTest, PassesStandardInputOn) {
  const TempDir workspace;
  auto run = run_in(workspace, "tr a-z A-Z");
  run.input = "hello";
  EXPECT_EQ(run_program(run).out, "HELLO");
}

TEST(BawnRunTest, GivesASignalAs128PlusItsNumber) {
  const TempDir workspace;
  EXPECT_EQ(run_program(run_in(workspace, "kill -KILL $$")).exit_code, 137);
}

TEST(BawnRunTest, SaysWhenTheCommandIsMissingOrNoProgram) {
  const TempDir workspace;
  auto run = run_in(workspace, "");
  run.argv.resize(run.argv.size() - 3);
  run.argv.emplace_back("no-such-program-anywhere");
  auto result = run_program(run);
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_THAT(result.err, StartsWith("bawn: "));
  run.argv.back() = workspace.write("plain", "no program").string();
  result = run_program(run);
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("Permission denied"));
}

TEST(BawnRunTest, TheReportIsOursWhateverTheCommandAndWhatItLeftPutInItsPlace) {
  const TempDir workspace;
  const std::string report = workspace.path() / "report.json";
  for (const char* forge :
       {"rm -f report.json; echo '{}' >report.json", "ln -sf /etc/hostname report.json",
        "(while :; do rm -f report.json; mkfifo report.json; done) & sleep 0.1"}) {
    const auto run = run_program(run_in(workspace, forge, {"--report", report}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(report)));
    EXPECT_TRUE(read_report(report).value("confirmed", false)) << forge;
  }
  const auto run =
      run_program(run_in(workspace, "rm report.json; mkdir report.json", {"--report", report}));
  EXPECT_EQ(run.exit_code, 125);
  EXPECT_THAT(run.err, HasSubstr("cannot write the report"));
}

/// Its records decide which processes the next server ends.
TEST(BawnRunTest, BawnsOwnStateIsOutOfReachWhereItsDirectoryIsWritable) {
  const TempDir workspace;
  const TempDir base("/var/tmp");
  const std::string records = base.path() / "state/records";
  std::filesystem::create_directories(records);
  const TempDir elsewhere;
  const auto policy = elsewhere.write(
      "policy.json", R"({"extends":"workspace-write","write":[")" + base.path().string() + "\"]}");
  auto run = run_in(workspace,
                    "touch " + base.path().string() + "/control && ! touch " + records +
                        "/1-1.jsonl && ! ls " + records,
                    {"--policy", policy.string()});
  run.env = {{"BAWN_RUNTIME_DIR", base.path() / "state"}};
  const auto result = run_program(run);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::exists(base.path() / "control"));
  EXPECT_TRUE(std::filesystem::is_empty(records));
}

/// The session's own shared memory lies over the host's: what is writable in it must come back.
TEST(BawnRunTest, SharedMemoryIsTheHostsWhereThePolicyNamesIt) {
  if (::access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "/dev/shm cannot be written here";
  }
  const TempDir shared("/dev/shm");
  const TempDir workspace;
  const TempDir elsewhere;
  const auto policy = elsewhere.write("policy.json", R"({"extends":"workspace-write","write":[")" +
                                                         shared.path().string() + "\"]}");
  const std::string file = shared.path().string() + "/written";
  const std::string beside = shared.path().string() + "-beside";
  const std::string text = "echo x >" + beside + "; echo x >" + file;
  for (const auto& run :
       {run_in(workspace, text, {"--policy", policy.string()}), run_in(shared, text)}) {
    const auto result = run_program(run);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(std::filesystem::remove(file));
  }
  EXPECT_FALSE(std::filesystem::remove(beside))
      << "what the policy does not name is the session's own, or closed";
}

TEST(BawnRunTest, ASingleFileOfAPrivateDirectoryIsTheHosts) {
  const TempDir workspace;
  const TempDir elsewhere;
  const std::string file = elsewhere.write("state.json", "old").string();
  const auto policy =
      elsewhere.write("policy.json", R"({"extends":"workspace-write","write":[")" + file + "\"]}");
  const auto result =
      run_program(run_in(workspace, "echo new >" + file + "; ls " + elsewhere.path().string(),
                         {"--policy", policy.string()}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(file), "new\n");
}

TEST(BawnRunTest, EndsACommandThatOutlivesItsTimeout) {
  const TempDir workspace;
  const auto result =
      run_program(run_in(workspace, "echo before; sleep 600; echo after", {"--timeout", "300ms"}));
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.out, "before\n");
}

TEST(BawnRunTest, LeavesNothingRunningThatTheCommandStarted) {
  const TempDir workspace;
  // The background process would hold the output pipe: the run only ends because it is ended.
  const auto result = run_program(run_in(workspace, "setsid sleep 600 & echo started"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "started\n");
}

TEST(BawnRunTest, WritesTheReportOfWhatWasApplied) {
  BAWN_REQUIRE("landlock");
  BAWN_REQUIRE("seccomp");
  const TempDir workspace;
  const TempDir elsewhere;
  const auto file = (elsewhere.path() / "report.json").string();
  ASSERT_EQ(run_program(run_in(workspace, "true", {"--report", file})).exit_code, 0);
  const auto report = read_report(file);
  EXPECT_EQ(report.value("confined", false), true) << report;
  EXPECT_EQ(report.value("confirmed", false), true) << report;
  EXPECT_EQ(report.value("policy", ""), "workspace-write");
  EXPECT_THAT(report.value("policy_id", ""), StartsWith("sha256:"));
  EXPECT_EQ(layer_of(report, "landlock").value("applied", false), true) << report;
  EXPECT_EQ(layer_of(report, "seccomp").value("applied", false), true) << report;
}

TEST(BawnRunTest, TellsOfProtectedNamesThatNoLayerCouldHold) {
  const TempDir workspace;
  const TempDir elsewhere;
  const auto file = (elsewhere.path() / "report.json").string();
  auto run = run_in(workspace, "true", {"--report", file});
  auto result = run_program(run);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(read_report(file)["protected_changed"], contract::Json::array());
  // The second one comes from a process that the command leaves behind.
  run = run_in(workspace, "mkdir .vscode; setsid sh -c 'sleep 600; touch .bashrc' & touch .envrc",
               {"--report", file});
  result = run_program(run);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("protected name appeared: \"" +
                                    (workspace.path() / ".envrc").string() + "\""));
  const auto changed = read_report(file).value("protected_changed", contract::Json::array());
  ASSERT_EQ(changed.size(), 2U) << changed;
  EXPECT_EQ(changed[0]["change"], "appeared");
  EXPECT_TRUE(std::filesystem::exists(workspace.path() / ".envrc")) << "it is told, not taken away";
}

TEST(BawnRunTest, HandsNoDescriptorOfItsOwnToTheCommandForAClosedStream) {
  const TempDir workspace;
  const TempDir elsewhere;
  const auto report = (elsewhere.path() / "report.json").string();
  const std::string run = std::string(BAWN_PROGRAM) + " run --workspace " +
                          workspace.path().string() + " --report " + report + " -- ";
  const auto result =
      run_program({.argv = {"sh", "-c",
                            run + "sh -c 'echo forged; for fd in 0 1 2; do readlink "
                                  "/proc/self/fd/$fd >>seen; done' <&- >&-"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(read_file(report), Not(HasSubstr("forged")));
  const std::string seen = read_file(workspace.path() / "seen");
  EXPECT_THAT(seen, Not(HasSubstr("anon_inode")));
  EXPECT_THAT(seen, StartsWith("/dev/null\n"));
}

TEST(BawnRunTest, HidesTheAccountsSecretsWhateverHomeSays) {
  BAWN_REQUIRE("root");
  // A secret that every Debian account of root may have; made here only when it is missing.
  const std::string secret = "/root/.netrc";
  const bool made = !std::filesystem::exists(secret);
  if (made) {
    std::ofstream(secret) << "secret";
  }
  const TempDir workspace;
  auto run = run_in(workspace, "cat " + secret);
  run.env["HOME"] = "/nonexistent";
  const auto result = run_program(run);
  if (made) {
    std::filesystem::remove(secret);
  }
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("Permission denied"));
}

TEST(BawnRunTest, StartsWhereItWasStartedInsideTheWorkspace) {
  const TempDir workspace;
  std::filesystem::create_directory(workspace.path() / "sub");
  auto run = run_in(workspace, "pwd");
  run.directory = (workspace.path() / "sub").string();
  EXPECT_EQ(run_program(run).out, run.directory + "\n");
  run.directory = "/";
  EXPECT_EQ(run_program(run).out, workspace.path().string() + "\n");
}

TEST(BawnRunTest, WorksForAnOrdinaryUser) {
  BAWN_REQUIRE("root");
  const TempDir workspace;
  std::filesystem::permissions(workspace.path(), std::filesystem::perms::all);
  auto run = run_in(workspace, "id -u; echo x > made && cat made");
  run.uid = kOrdinaryUser;
  const auto result = run_program(run);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "12345\nx\n");
}

TEST(BawnRunTest, RunsAsTheWorkspacesOwnerWhenRootStartsIt) {
  BAWN_REQUIRE("root");
  const TempDir workspace;
  std::filesystem::permissions(workspace.path(), std::filesystem::perms::all);
  const auto owned = workspace.path().string();
  ASSERT_EQ(run_program({.argv = {"chown", "12345:12345", owned}}).exit_code, 0);
  const auto result = run_program(run_in(workspace, "id -u; touch mine; stat -c %u mine"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "12345\n12345\n");
}

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;
  const char* says;
};

// For the names that ctest lists.
void PrintTo(const Refusal& one, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << one.name;
}

class ARefusedRun : public ::testing::TestWithParam<Refusal> {};

TEST_P(ARefusedRun, SaysOneSentenceAndExitsWith125) {
  std::vector<std::string> argv = {BAWN_PROGRAM, "run"};
  argv.insert(argv.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const auto result = run_program({.argv = argv});
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    , ARefusedRun,
    ::testing::Values(
        Refusal{"UnknownPolicy", {"--policy", "worksapce-write", "--", "true"}, "workspace-write"},
        Refusal{"MissingWorkspace",
                {"--workspace", "/nowhere/at/all", "--", "true"},
                "/nowhere/at/all"},
        Refusal{"WorkspaceIsTheRoot", {"--workspace", "/", "--", "true"}, "\"/\""},
        Refusal{"WorkspaceIsAFile", {"--workspace", "/etc/passwd", "--", "true"}, "/etc/passwd"},
        Refusal{
            "UnconfinedUnasked", {"--policy", "unconfined", "--", "true"}, "--allow-unconfined"},
        Refusal{"BadTimeout", {"--timeout", "soon", "--", "true"}, "write for example"},
        Refusal{"EmptyTimeout", {"--timeout", "", "--", "true"}, "write for example"},
        Refusal{
            "UnwritableReport", {"--report", "/nowhere/report", "--", "true"}, "/nowhere/report"},
        Refusal{"NoCommand", {}, "command"},
        Refusal{"UnknownOption", {"--polcy", "read-only", "--", "true"}, "--polcy"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace bawn::test
