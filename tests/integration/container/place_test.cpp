#include "open_place.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace bawn::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

using Place = OpenPlace;

TEST_F(Place, runs_a_persistent_shell_inside_the_container) {
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_EQ(sh("echo $IMAGE_SAYS; cd /tmp; x=1").out.text, "hello\n");
  const auto second = sh("echo $PWD $x; cat /proc/1/comm");
  EXPECT_EQ(second.out.text, "/tmp 1\nwarden\n");
  EXPECT_EQ(sh("exit 3").exit_code, 3);
}

TEST_F(Place, reports_what_holds_it_and_what_the_inside_adds) {
  ASSERT_NO_FATAL_FAILURE(open());
  const auto& report = session_->confinement();
  EXPECT_TRUE(report.confirmed);
  EXPECT_EQ(report.by, "container:" + place_->spec().name + "+landlock+seccomp");
  EXPECT_TRUE(place_->facts().read_only_root);
  EXPECT_TRUE(place_->facts().no_new_privileges);
  EXPECT_TRUE(place_->facts().own_network);
  EXPECT_TRUE(place_->facts().capabilities.empty());
  const auto denied = sh("touch /etc/x 2>&1 || echo denied");
  EXPECT_THAT(denied.out.text, HasSubstr("denied"));
  EXPECT_EQ(sh("echo a > made && cat made").out.text, "a\n");
  EXPECT_TRUE(std::filesystem::exists(workspace_.path() / "made"));
}

TEST_F(Place, timeout_ends_what_the_call_started_inside) {
  ASSERT_NO_FATAL_FAILURE(open());
  shell::BashRequest request;
  request.command = "sh -c 'sleep 5; touch /workspace/PROOF'";
  request.timeout = 200ms;
  const auto result = run(request);
  EXPECT_EQ(result.reason, shell::Reason::Timeout);
  EXPECT_TRUE(result.survivors.empty());
  // Nothing of it is left that could still write.
  EXPECT_EQ(sh("grep -l sleep /proc/[0-9]*/comm 2>/dev/null").out.text, "");
  EXPECT_FALSE(std::filesystem::exists(workspace_.path() / "PROOF"));
}

TEST_F(Place, a_detached_child_does_not_hold_the_call) {
  ASSERT_NO_FATAL_FAILURE(open());
  const auto result = sh("setsid sleep 600 & echo done");
  EXPECT_EQ(result.out.text, "done\n");
  EXPECT_EQ(result.exit_code, 0);
}

TEST_F(Place, close_leaves_no_container_and_no_directory) {
  ASSERT_NO_FATAL_FAILURE(open());
  const std::string name = place_->spec().name;
  EXPECT_TRUE(exists(name));
  EXPECT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
  EXPECT_FALSE(place_->alive());
  EXPECT_TRUE(std::filesystem::is_empty(state_.path() / "places"));
}

}  // namespace
}  // namespace bawn::test
