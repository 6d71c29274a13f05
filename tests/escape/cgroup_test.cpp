// D01, D02 and outliving, held by the session's cgroup v2. Where the machine has its controllers on
// v1, only what needs none runs; tests/vm runs all of this on a kernel that has them.
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/features.hpp"
#include "support/peer_process.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace bawn::test {
namespace {

using testing::HasSubstr;

constexpr int kBroken = 60'000;  ///< ms that only a broken wall reaches
/// Without namespaces nothing else bounds root's processes or ends what a session left.
constexpr const char* kNoNamespaces = "namespaces";

/// Each test has a cgroup of its own, as if somebody had delegated it: what other tests' servers
/// leave and sweep is not in it.
class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("landlock");
    if (!features_.cgroup_v2.available) {
      ASSERT_FALSE(is_required("cgroup-v2")) << features_.cgroup_v2.reason;
      GTEST_SKIP() << "no session can get a cgroup here: " << features_.cgroup_v2.reason;
    }
    group_ = fmt::format("{}/test-of-bawn-{}", features_.cgroup, ::getpid());
    if (!features_.cgroup_controllers.empty()) {
      step_aside();
    }
    for (const std::string& controller : features_.cgroup_controllers) {
      std::ofstream(features_.cgroup + "/cgroup.subtree_control") << "+" << controller;
    }
    ASSERT_TRUE(std::filesystem::create_directory(group_));
    for (const char* name : {"ws", "run", "state"}) {
      std::filesystem::create_directory(base_.path() / name);
    }
  }
  void TearDown() override {
    if (group_.empty()) {
      return;
    }
    std::ofstream(group_ + "/cgroup.kill") << "1";
    for (const std::string& path : groups()) {
      while (is_populated(path)) {
      }
      EXPECT_EQ(::rmdir(path.c_str()), 0) << path;
    }
    while (is_populated(group_)) {
    }
    EXPECT_EQ(::rmdir(group_.c_str()), 0);
  }
  /// As a server does: controllers that are given on beside a process make its cgroup a threaded
  /// one, whose children take no processes (cgroups(7)).
  void step_aside() const {
    const std::string own = features_.cgroup + "/bawn-server";
    if (std::filesystem::exists(features_.cgroup + "/cgroup.type")) {
      std::filesystem::create_directory(own);
      std::ofstream(own + "/cgroup.procs") << ::getpid();
    }
  }
  [[nodiscard]] bool has(const char* controller) const {
    return std::ranges::find(features_.cgroup_controllers, controller) !=
           features_.cgroup_controllers.end();
  }
  [[nodiscard]] std::string workspace() const { return base_.path() / "ws"; }

  /// A policy like workspace-write with these limits, as JSON members. Below ABI 3 Landlock alone
  /// does not give what it requires, and that is not asked here.
  std::string policy(const std::string& limits) {
    return base_.write(
        "policy.json",
        fmt::format(R"({{"extends": "workspace-write", "best_effort": true, "limits": {{{}}}}})",
                    limits));
  }
  /// These words of bawn, begun in the test's cgroup. Controllers that a server before gave to its
  /// sessions are taken back, as a service manager does: a cgroup that hands some down takes no
  /// process (cgroups(7), "no internal processes").
  std::vector<std::string> in_group(std::vector<std::string> words) {
    constexpr const char* kEnter =
        "for c in $(cat \"$0/cgroup.subtree_control\"); do "
        "echo \"-$c\" >\"$0/cgroup.subtree_control\"; done && "
        "echo $$ >\"$0/cgroup.procs\" && exec \"$@\"";
    words.insert(words.begin(), {"/bin/sh", "-c", kEnter, group_, BAWN_PROGRAM});
    return words;
  }
  ProgramResult run(const std::string& limits, const std::string& script) {
    return run_program({.argv = in_group({"run", "--policy", policy(limits), "--workspace",
                                          workspace(), "--", "/bin/sh", "-c", script}),
                        .directory = workspace(),
                        .env = {{"BAWN_FEATURES_OFF", kNoNamespaces}}});
  }
  contract::Result<McpPeer> serve(const std::string& limits) {
    return McpPeer::connect(
        in_group({"mcp", "--policy", policy(limits), "--workspace", workspace()}),
        {std::string("BAWN_FEATURES_OFF=") + kNoNamespaces,
         "XDG_RUNTIME_DIR=" + (base_.path() / "run").string(),
         "XDG_STATE_HOME=" + (base_.path() / "state").string()});
  }
  /// Those of sessions, and the server's own.
  [[nodiscard]] std::vector<std::string> groups(std::string_view prefix = "bawn-") const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(group_)) {
      if (entry.is_directory() && entry.path().filename().string().starts_with(prefix)) {
        found.push_back(entry.path());
      }
    }
    return found;
  }
  [[nodiscard]] static bool is_populated(const std::string& group) {
    return read_file(group + "/cgroup.events").find("populated 1") != std::string::npos;
  }

  const sandbox::KernelFeatures features_ = sandbox::probe_features();
  TempDir base_{"/var/tmp"};
  std::string group_;
};

/// Of a session's cgroup: the PID namespace that its server's number is of comes first.
std::string session_prefix() {
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid");
  return "bawn-" + space.substr(5, space.size() - 6) + "-";
}

TEST_F(Cgroup, P12_DaemonsOfAStoppedWardenAndAKilledServerEndWithTheirCgroup) {
  ASSERT_EQ(::mkfifo((workspace() + "/fifo").c_str(), 0600), 0);
  const os::UniqueFd alive(
      ::open((workspace() + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(alive.is_open());
  std::string group;
  {
    auto server = serve("");
    ASSERT_TRUE(server) << server.error().message();
    ASSERT_TRUE(server->call_tool(
        "bash", R"({"command": "exec 5>fifo; setsid setsid sleep 1000 & setsid sleep 1000 &"})"));
    const auto sessions = groups(session_prefix());
    ASSERT_EQ(sessions.size(), 1U);
    group = sessions.front();
    // Nobody else can end anything from here on.
    std::ifstream processes(group + "/cgroup.procs");
    int warden = 0;
    ASSERT_TRUE(processes >> warden);
    ASSERT_EQ(::kill(warden, SIGSTOP), 0);
    ASSERT_EQ(::kill(server->pid(), SIGKILL), 0);
  }
  EXPECT_TRUE(is_populated(group)) << "the control: they are still there";
  pollfd waiting = {alive.get(), 0, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "the control: they are still there";
  auto next = serve("");
  ASSERT_TRUE(next) << next.error().message();
  ASSERT_TRUE(next->call_tool("bash", R"({"command": "true"})"));
  EXPECT_EQ(::poll(&waiting, 1, kBroken), 1);
  EXPECT_NE(waiting.revents & POLLHUP, 0);
  EXPECT_FALSE(std::filesystem::exists(group)) << group;
}

TEST_F(Cgroup, IsGoneAfterTheSessionAndTheReportNamedIt) {
  const std::string report = base_.path() / "report.json";
  const auto result =
      run_program({.argv = in_group({"run", "--policy", policy(""), "--workspace", workspace(),
                                     "--report", report, "--", "/bin/sh", "-c",
                                     "setsid sleep 1000 & cat /proc/self/cgroup"}),
                   .directory = workspace(),
                   .env = {{"BAWN_FEATURES_OFF", kNoNamespaces}}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::size_t at = result.out.find("/bawn-");
  ASSERT_NE(at, std::string::npos) << result.out;
  const std::string name = result.out.substr(at, result.out.find('\n', at) - at);
  EXPECT_TRUE(groups(session_prefix()).empty()) << name;
  EXPECT_FALSE(std::filesystem::exists(group_ + name)) << name;
  const auto told = contract::parse_json(read_file(report));
  ASSERT_TRUE(told) << read_file(report);
  EXPECT_THAT(contract::dump_json(*told),
              HasSubstr(R"("name":"cgroup","requested":true,"applied":true)"));
}

TEST_F(Cgroup, ACommandCannotLeaveIt) {
  const auto result =
      run("",
          "cat /proc/self/cgroup >before; for d in $(cut -d: -f3 before | tail -n 1) /; "
          "do echo $$ >/sys/fs/cgroup$d/../cgroup.procs; echo $$ "
          ">/sys/fs/cgroup/unified$d/../cgroup.procs; done 2>/dev/null; "
          "cmp before /proc/self/cgroup && echo same");
  EXPECT_EQ(result.out, "same\n") << result.err;
}

TEST_F(Cgroup, D01_ForkWithoutEndIsHeldByPidsMax) {
  if (!has("pids")) {
    ASSERT_FALSE(is_required("cgroup-v2")) << features_.cgroup_reason;
    GTEST_SKIP() << "no pids controller: " << features_.cgroup_reason;
  }
  const std::string forks =
      "i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); echo $i; done 2>/dev/null";
  const auto lines = [](const ProgramResult& result) {
    return std::ranges::count(result.out, '\n');
  };
  EXPECT_EQ(lines(run(R"("processes": 400)", forks)), 100) << "the control";
  const auto held = run(R"("processes": 40)", forks);
  EXPECT_GT(lines(held), 20) << held.err;
  EXPECT_LE(lines(held), 48);
}

TEST_F(Cgroup, D02_TakingAllMemoryByManyProcessesEndsWithReasonOom) {
  if (!has("memory")) {
    ASSERT_FALSE(is_required("cgroup-v2")) << features_.cgroup_reason;
    GTEST_SKIP() << "no memory controller: " << features_.cgroup_reason;
  }
  constexpr const char* kTakes =
      R"({"yield_ms": 30000, "command": "head -c 60000000 /dev/zero | tail -c 60000000 | wc -c; exit ${PIPESTATUS[1]}"})";
  auto roomy = serve(R"("memory_bytes": null, "session_memory_bytes": 419430400)");
  ASSERT_TRUE(roomy) << roomy.error().message();
  const auto control = roomy->call_tool("bash", kTakes);
  ASSERT_TRUE(control);
  EXPECT_THAT(std::string(*control), HasSubstr("60000000")) << "the control";
  auto tight = serve(R"("memory_bytes": null, "session_memory_bytes": 33554432)");
  ASSERT_TRUE(tight) << tight.error().message();
  const auto held = tight->call_tool("bash", kTakes);
  ASSERT_TRUE(held);
  EXPECT_THAT(std::string(*held), HasSubstr(R"("reason":"oom")"));
  const auto after = tight->call_tool("bash", R"~({"command": "echo still $((40+2))"})~");
  ASSERT_TRUE(after);
  EXPECT_THAT(std::string(*after), HasSubstr("still 42")) << "the session goes on";
}

TEST_F(Cgroup, CpuTimeOfTheSessionIsHeldByCpuMax) {
  if (!has("cpu")) {
    ASSERT_FALSE(is_required("cgroup-v2")) << features_.cgroup_reason;
    GTEST_SKIP() << "no cpu controller: " << features_.cgroup_reason;
  }
  // Uses half a second of CPU in two processes, however long that takes.
  const auto result = run(R"("cpu_percent": 20)", R"(
    used() { set -- $(sed 's/.*) //' /proc/$1/stat); echo $((${12} + ${13})); }
    now() { read up rest </proc/uptime; echo ${up%.*}${up#*.}; }
    begin=$(now)
    for i in 1 2; do
      while :; do :; done & p=$!
      while [ $(used $p) -lt 25 ]; do sleep 0.05; done & w="$w $!"
    done
    wait $w
    echo $(($(now) - begin)))");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(std::atol(result.out.c_str()), 150) << "hundredths of a second for 25 ticks or more";
}

}  // namespace
}  // namespace bawn::test
