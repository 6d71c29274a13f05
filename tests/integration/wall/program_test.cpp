// The program bawn-warden as such.
#include "bawn/os/pidfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace {

struct Answer {
  int code = -1;
  std::string text;
};

Answer ask_program(std::vector<std::string> argv, int stream) {
  auto pipe = *bawn::os::Pipe::make();
  bawn::os::SpawnOptions options;
  options.program = BAWN_WARDEN;
  options.argv = std::move(argv);
  options.fds = {{pipe.write.get(), stream}};
  const auto child = bawn::os::spawn(options);
  pipe.write.reset();
  Answer answer;
  std::array<char, 512> buffer;
  for (ssize_t count = 0; (count = ::read(pipe.read.get(), buffer.data(), buffer.size())) > 0;) {
    answer.text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  if (child && ::waitpid(child->pid(), &status, 0) == child->pid() && WIFEXITED(status)) {
    answer.code = WEXITSTATUS(status);
  }
  return answer;
}

TEST(WardenProgramTest, SaysWhatItIsAndExitsTwo) {
  const Answer answer = ask_program({"bawn-warden"}, 2);
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.text, testing::HasSubstr("started by bawn"));
  EXPECT_EQ(std::ranges::count(answer.text, '\n'), 1);
}

TEST(WardenProgramTest, ProbeSaysOneLineForEachTry) {
  BAWN_REQUIRE("user-namespaces");
  const Answer answer = ask_program({"bawn-warden", "--probe"}, 1);
  EXPECT_EQ(answer.code, 0);
  for (const char* line : {"user ok\n", "mount ok\n", "pid ok\n", "net ok\n", "ipc ok\n",
                           "uts ok\n", "proc ", "tmpfs "}) {
    EXPECT_THAT(answer.text, testing::HasSubstr(line));
  }
}

TEST(WardenProgramTest, ServeWithoutAPlanEndsAtOnce) {
  EXPECT_EQ(ask_program({"bawn-warden", "--serve"}, 2).code, 1);
}

}  // namespace
