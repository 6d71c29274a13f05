#include "bawn/os/event_fd.hpp"
#include "bawn/os/memfd.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/os/spawn.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace bawn::os;
using bawn::contract::CancelReason;
using bawn::contract::CancelSource;
using bawn::contract::Context;
using bawn::contract::ErrorCode;

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}
bool closes_on_exec(int fd) {
  return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 256> buffer;
  for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

TEST(UniqueFdTest, ClosesOnceAndMoveLeavesSourceEmpty) {
  Pipe pipe = *Pipe::make();
  const int number = pipe.read.get();
  {
    UniqueFd moved = std::move(pipe.read);
    EXPECT_FALSE(pipe.read.is_open());  // NOLINT(bugprone-use-after-move): the promise under test
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(PipeTest, EndsCloseOnExec) {
  const Pipe pipe = *Pipe::make();
  EXPECT_TRUE(closes_on_exec(pipe.read.get()));
  EXPECT_TRUE(closes_on_exec(pipe.write.get()));
  const SocketPair pair = *SocketPair::make();
  EXPECT_TRUE(closes_on_exec(pair.near.get()));
  EXPECT_TRUE(closes_on_exec(pair.far.get()));
}

TEST(MemfdTest, HoldsItsBytesAndCannotBeChanged) {
  const UniqueFd fd = *sealed_memfd("test", "bytes");
  EXPECT_EQ(read_all(fd.get()), "bytes");
  EXPECT_EQ(::pwrite(fd.get(), "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(fd.get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(PollTest, ReturnsWhenReadable) {
  const EventFd event = *EventFd::make();
  event.signal();
  EXPECT_TRUE(wait_readable(event.get(), Context()));
  event.clear();
  const auto passed = Context().with_deadline(Context::Clock::now());
  EXPECT_TRUE(wait_readable(event.get(), passed).error().is(ErrorCode::DeadlineExceeded));
}

TEST(PollTest, CancellationFromAnotherThreadEndsTheWait) {
  const EventFd never = *EventFd::make();
  const CancelSource source{Context()};
  std::jthread canceller([&] { source.cancel(); });
  EXPECT_TRUE(wait_readable(never.get(), source.context()).error().is(ErrorCode::Cancelled));
}

TEST(PollTest, ClosedContextIsSaidAsClosed) {
  const EventFd never = *EventFd::make();
  const CancelSource source{Context()};
  source.cancel(CancelReason::Closed);
  EXPECT_TRUE(wait_readable(never.get(), source.context()).error().is(ErrorCode::Closed));
}

TEST(PollTest, ReadyDescriptorWinsOverEndedContext) {
  const EventFd event = *EventFd::make();
  event.signal();
  const CancelSource source{Context()};
  source.cancel();
  EXPECT_TRUE(wait_readable(event.get(), source.context()));
}

SpawnOptions shell(const std::string& text) {
  SpawnOptions options;
  options.program = "/bin/sh";
  options.argv = {"sh", "-c", text};
  options.env = {"PATH=/usr/bin:/bin", "WORD=value"};
  return options;
}

TEST(SpawnTest, ChildHasItsEnvironmentAndTheNamedDescriptorsOnly) {
  const int leaked = ::open("/etc/passwd", O_RDONLY);  // NOLINT: not close-on-exec on purpose
  Pipe pipe = *Pipe::make();
  SpawnOptions options = shell("echo $WORD; ls /proc/self/fd; cat; ls -l /proc/self/fd/2");
  options.fds = {{pipe.write.get(), 1}, {pipe.write.get(), 7}};
  const auto child = spawn(options);
  ASSERT_TRUE(child) << child.error().message();
  pipe.write.reset();
  const std::string text = read_all(pipe.read.get());
  // 3 is the directory that ls reads.
  EXPECT_THAT(text, testing::StartsWith("value\n0\n1\n2\n3\n7\n"));
  EXPECT_THAT(text, testing::HasSubstr("/dev/null"));
  EXPECT_TRUE(wait_readable(child->get(), Context()));
  EXPECT_TRUE(child->reap());
  ::close(leaked);
}

TEST(SpawnTest, DescriptorsMayTradePlaces) {
  const UniqueFd first = *sealed_memfd("a", "A");
  const UniqueFd second = *sealed_memfd("b", "B");
  Pipe pipe = *Pipe::make();
  SpawnOptions options = shell("cat <&3; cat <&4");
  options.fds = {{pipe.write.get(), 1}, {first.get(), 4}, {second.get(), 3}};
  const auto child = spawn(options);
  ASSERT_TRUE(child);
  pipe.write.reset();
  EXPECT_EQ(read_all(pipe.read.get()), "BA");
  EXPECT_TRUE(wait_readable(child->get(), Context()));
  EXPECT_TRUE(child->reap());
}

TEST(SpawnTest, MissingProgramIsNotFound) {
  SpawnOptions options = shell("");
  options.program = "/no/such/program";
  const auto child = spawn(options);
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), ErrorCode::NotFound);
}

TEST(SpawnTest, ProcessThatCannotBeHeldIsEnded) {
  std::vector<bawn::os::UniqueFd> all;
  for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0;
       fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    all.emplace_back(fd);
  }
  ASSERT_EQ(errno, EMFILE);
  bawn::os::SpawnOptions options;
  options.program = "/bin/sleep";
  options.argv = {"sleep", "1000"};
  const auto child = bawn::os::spawn(options);
  all.clear();
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().errnum(), EMFILE);
  EXPECT_THAT(bawn::os::children(::getpid()), testing::IsEmpty());
}

TEST(SpawnTest, LastingThreadOutlivesItsCaller) {
  SpawnOptions options = shell("sleep 100");
  options.from_lasting_thread = true;
  Pidfd child;
  std::jthread([&] { child = *spawn(options); }).join();
  EXPECT_FALSE(child.exited());
  EXPECT_TRUE(child.signal(SIGKILL));
  EXPECT_TRUE(wait_readable(child.get(), Context()));
  EXPECT_TRUE(child.reap());
}

TEST(PidfdTest, TellsRunningFromExitedAndNeverHitsAnother) {
  auto child = *spawn(shell("sleep 100"));
  EXPECT_FALSE(child.exited());
  EXPECT_FALSE(child.reap());
  ASSERT_TRUE(child.signal(SIGKILL));
  EXPECT_TRUE(wait_readable(child.get(), Context()));
  EXPECT_TRUE(child.exited());
  EXPECT_TRUE(child.reap());
  EXPECT_EQ(child.signal(SIGKILL).error().code(), ErrorCode::NotFound);
  EXPECT_EQ(Pidfd::open(child.pid()).error().code(), ErrorCode::NotFound);
}

TEST(PidfdTest, AdoptFindsTheNumber) {
  UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  EXPECT_EQ(Pidfd::adopt(std::move(self))->pid(), ::getpid());
}

TEST(ProcfsTest, ReadsStartTimeParentAndNumbers) {
  EXPECT_GT(*start_time(::getpid()), 0U);
  EXPECT_EQ(*parent_pid(::getpid()), ::getppid());
  EXPECT_EQ(namespace_pids(::getpid())->back(), ::getpid());
  EXPECT_EQ(boot_id()->size(), 36U);
  EXPECT_EQ(start_time(0x3fffffff).error().code(), ErrorCode::NotFound);
}

TEST(ProcfsTest, DescendantsHoldChildrenOfChildren) {
  Pipe pipe = *Pipe::make();
  SpawnOptions options = shell("sh -c 'echo; sleep 100 & wait'; :");
  options.fds = {{pipe.write.get(), 1}};
  auto child = *spawn(options);
  char byte = 0;
  ASSERT_EQ(::read(pipe.read.get(), &byte, 1), 1);
  while (descendants(child.pid()).size() < 2) {  // bounded by the test's time limit
  }
  const auto below = descendants(child.pid());
  EXPECT_EQ(children(child.pid()).size(), 1U);
  EXPECT_EQ(below.front(), children(child.pid()).front());
  for (const int pid : below) {
    (void)Pidfd::open(pid)->signal(SIGKILL);
  }
  (void)child.signal(SIGKILL);
  EXPECT_TRUE(wait_readable(child.get(), Context()));
  EXPECT_TRUE(child.reap());
}

}  // namespace
