// The server's side of a file agent's stream, against an agent that is in other hands.
#include "bawn/os/pipe.hpp"
#include "file_channel.hpp"
#include "support/temp_dir.hpp"
#include "wire_encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

namespace {

using namespace bawn::sandbox;
using bawn::contract::Context;
using bawn::os::UniqueFd;
using bawn::test::TempDir;
using file_wire::Op;
using testing::HasSubstr;
using End = FileExchange::End;

const FileAsk kAsk{Op::Open, "/ws/a"};

void put_status(wire::Writer& out, FileType type = FileType::Regular) {
  out.u32(static_cast<std::uint32_t>(type)).u32(0644).u32(1).u32(2);
  out.u64(5).u64(6).u64(7).u64(8).u64(9).u64(1);
}

std::string page(std::uint32_t more, std::uint32_t count, const std::string& name) {
  wire::Writer out;
  out.u64(1).u64(2).u64(3).u32(more).u32(count);
  out.u32(static_cast<std::uint32_t>(FileType::Fifo)).text(name);
  return out.data();
}

std::string staged(const std::string& target) {
  wire::Writer out;
  out.u32(file_wire::kPresent | file_wire::kNamed).u32(2).text(target);
  put_status(out);
  out.u32(1).text("user.note").text("value with more than sixteen bytes");
  out.u64(8).u64(11);
  return out.data();
}

std::string failure(int errnum, std::uint32_t kind) {
  wire::Writer out;
  out.u32(static_cast<std::uint32_t>(errnum)).u32(kind).u32(0).text("openat2");
  return out.data();
}

TEST(FileAnswerTest, SoundAnswersAreRead) {
  wire::Writer status;
  put_status(status);
  EXPECT_EQ(read_status(status.data())->links, 1U);
  EXPECT_EQ(read_page(page(1, 1, "a"), false)->next, "1:2:3");
  EXPECT_EQ(read_page(page(0, 1, "a"), false)->next, "");
  const auto answer = read_staged(staged("/ws/a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->parents_made, 2);
  EXPECT_EQ(answer->attributes.values.front().first, "user.note");
  EXPECT_EQ(read_failure(failure(ENOENT, 0), kAsk).code(), ErrorCode::NotFound);
}

TEST(FileAnswerTest, EveryCutAndEveryLongerAnswerIsRefused) {
  wire::Writer status;
  put_status(status);
  for (std::size_t size = 0; size < status.data().size(); ++size) {
    EXPECT_FALSE(read_status(status.data().substr(0, size)));
    EXPECT_FALSE(read_committed(status.data().substr(0, size)));
  }
  EXPECT_FALSE(read_status(status.data() + std::string(4, '\0')));
  const std::string whole = staged("/ws/a");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_staged(whole.substr(0, size)));
  }
  const std::string entries = page(1, 1, "abc");
  for (std::size_t size = 0; size < entries.size(); ++size) {
    EXPECT_FALSE(read_page(entries.substr(0, size), false));
  }
  EXPECT_FALSE(read_nothing("x"));
}

TEST(FileAnswerTest, NamesThatNoDirectoryHoldsAreRefused) {
  for (const std::string& name :
       {std::string(""), std::string("."), std::string(".."), std::string("../x"),
        std::string("/etc"), std::string(256, 'a')}) {
    EXPECT_FALSE(read_page(page(0, 1, name), false)) << name;
  }
  EXPECT_FALSE(read_page(page(1, 0, "a"), false));            // a page without an end
  EXPECT_FALSE(read_page(page(0, 0xffffffffU, "a"), false));  // more than can be there
  EXPECT_FALSE(read_staged(staged("relative")));
}

TEST(FileAnswerTest, FailuresOutOfRangeAreNotBelieved) {
  for (const std::string& payload :
       {failure(0, 0), failure(-1, 0), failure(5000, 0), failure(ENOENT, 7), std::string()}) {
    EXPECT_EQ(read_failure(payload, kAsk).code(), ErrorCode::Internal);
  }
}

TEST(FileAnswerTest, FailuresNamePathErrnoAndKind) {
  const Error denied = read_failure(failure(EACCES, 0), kAsk);
  EXPECT_EQ(denied.code(), ErrorCode::PermissionDenied);
  EXPECT_EQ(denied.find<FileFailure>()->errnum, EACCES);
  EXPECT_EQ(denied.find<FileFailure>()->path, "/ws/a");
  EXPECT_EQ(denied.call(), "openat2");
  EXPECT_THAT(denied.message(), HasSubstr("cannot open /ws/a"));
  const Error loop = read_failure(failure(ELOOP, 0), kAsk);
  EXPECT_EQ(loop.code(), ErrorCode::InvalidArgument);
  EXPECT_EQ(loop.find<FileFailure>()->errnum, ELOOP);
}

TEST(FileAnswerTest, CursorsThatNoPageGaveAreRefused) {
  EXPECT_EQ(read_cursor("")->offset, 0U);
  EXPECT_EQ(read_cursor("1:2:3")->offset, 3U);
  for (const char* cursor : {"1", "1:2", "1:2:", "1:2:0", "1:2:3:4", "a:b:c", "1:2:-3", " 1:2:3",
                             "1:2:99999999999999999999"}) {
    EXPECT_FALSE(read_cursor(cursor)) << cursor;
  }
}

TEST(FileAnswerTest, RandomBytesAreNeverBelievedAndNeverRead) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = round % 2 == 0 ? staged("/ws/a") : page(1, 1, "name");
    for (auto change = random() % 4 + 1; change > 0; --change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    (void)read_status(bytes);
    (void)read_committed(bytes);
    (void)read_failure(bytes, kAsk);
    if (const auto read = read_page(bytes, random() % 2 == 0)) {
      for (const auto& entry : read->entries) {
        EXPECT_EQ(entry.name.find('/'), std::string::npos);
      }
    }
    if (const auto read = read_staged(bytes)) {
      EXPECT_EQ(read->target.front(), '/');
    }
  }
}

/// Descriptors that are not what they should be.
TEST(FileDescriptorTest, OnlyAnOpenRegularFilePasses) {
  const TempDir directory;
  const std::string file = directory.write("a", "x");
  const std::string fifo = (directory.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto passes = [](const std::string& path, int flags, int access) {
    const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
    EXPECT_TRUE(fd.is_open()) << path;
    return check_descriptor(fd, access, {}).has_value();
  };
  EXPECT_TRUE(passes(file, O_RDONLY, O_RDONLY));
  EXPECT_TRUE(passes(file, O_WRONLY, O_WRONLY));
  EXPECT_FALSE(passes(file, O_RDWR, O_RDONLY));
  EXPECT_FALSE(passes(file, O_RDWR, O_WRONLY));
  EXPECT_FALSE(passes(file, O_RDONLY, O_WRONLY));
  EXPECT_FALSE(passes(file, O_WRONLY | O_APPEND, O_WRONLY));
  EXPECT_FALSE(passes(file, O_PATH, O_RDONLY));
  EXPECT_FALSE(passes(fifo, O_RDONLY, O_RDONLY));
  EXPECT_FALSE(passes("/dev/null", O_WRONLY, O_WRONLY));
  EXPECT_FALSE(passes(directory.path(), O_RDONLY | O_DIRECTORY, O_RDONLY));
  EXPECT_TRUE(passes("/proc/self/status", O_RDONLY, O_RDONLY));
  EXPECT_FALSE(passes("/proc/self/comm", O_WRONLY, O_WRONLY));  // talks to the kernel
  EXPECT_FALSE(check_descriptor(UniqueFd(), O_RDONLY, {}));
}

class FileChannelTest : public testing::Test {
 protected:
  FileChannelTest() {
    auto pair = *bawn::os::SocketPair::make();
    agent_ = std::move(pair.far);
    channel_ = std::make_unique<FileChannel>(std::move(pair.near), bawn::os::Pidfd());
  }

  /// What the agent says before it is asked; the first request has the id 1.
  void say(std::uint32_t type, std::uint32_t id, const std::string& payload,
           std::vector<int> fds = {}, std::uint32_t more = 0) {
    wire::Header header{type, id, static_cast<std::uint32_t>(payload.size()) + more};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(head), fds.data(), fds.size() * sizeof(int));
    }
    ASSERT_EQ(::sendmsg(agent_.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  FileExchange ask() {
    const auto soon = Context().with_deadline(Context::Clock::now() + std::chrono::seconds(5));
    return channel_->exchange(Op::Open, "payload", -1, soon);
  }

  static constexpr auto kDone = static_cast<std::uint32_t>(file_wire::Answer::Done);
  UniqueFd agent_;
  std::unique_ptr<FileChannel> channel_;
};

TEST_F(FileChannelTest, TakesAnAnswerWithItsDescriptor) {
  say(kDone, 1, "text", {0});
  const auto result = ask();
  EXPECT_EQ(result.end, End::Answered);
  EXPECT_EQ(result.reply.payload, "text");
  EXPECT_TRUE(result.reply.fd.is_open());
}

TEST_F(FileChannelTest, AnotherRequestsAnswerIsMalformed) {
  say(kDone, 2, "text");
  EXPECT_EQ(ask().end, End::Malformed);
}

TEST_F(FileChannelTest, UnknownTypesLongFramesAndTrailingBytesAreMalformed) {
  say(7, 1, "text");
  EXPECT_EQ(ask().end, End::Malformed);
}

TEST_F(FileChannelTest, AFrameBeyondTheLimitIsMalformed) {
  say(kDone, 1, "text", {}, file_wire::kMaxAnswer);
  EXPECT_EQ(ask().end, End::Malformed);
}

TEST_F(FileChannelTest, BytesBehindTheAnswerAreMalformed) {
  say(kDone, 1, "text");
  say(kDone, 1, "text");
  EXPECT_EQ(ask().end, End::Malformed);
}

TEST_F(FileChannelTest, SeveralDescriptorsAreMalformed) {
  say(kDone, 1, "text", {0, 1});
  EXPECT_EQ(ask().end, End::Malformed);
}

TEST_F(FileChannelTest, AnAgentThatIsGoneWasNotAsked) {
  agent_.reset();
  EXPECT_EQ(ask().end, End::Unsent);
}

TEST_F(FileChannelTest, HalfAnAnswerIsLost) {
  say(kDone, 1, "text", {}, 8);
  ASSERT_EQ(::shutdown(agent_.get(), SHUT_WR), 0);
  EXPECT_EQ(ask().end, End::Lost);
}

TEST_F(FileChannelTest, ACancelledContextEndsTheWait) {
  const bawn::contract::CancelSource source{Context()};
  std::thread agent([&] {
    char request[64];
    EXPECT_GT(::recv(agent_.get(), request, sizeof request, 0), 0);  // it is under way
    source.cancel();
  });
  const auto result = channel_->exchange(Op::Open, "payload", -1, source.context());
  agent.join();
  EXPECT_EQ(result.end, End::Ended);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code(), ErrorCode::Cancelled);
}

}  // namespace
