// The agent itself, in a child of this test: requests of random bytes end it or are answered, and
// touch nothing outside of its root.
#include "agent/agent.hpp"
#include "bawn/os/pipe.hpp"
#include "file_answer.hpp"
#include "support/temp_dir.hpp"
#include "wire_encode.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>

namespace {

using namespace bawn::sandbox;
using bawn::os::UniqueFd;
using bawn::test::TempDir;
using file_wire::Op;

/// The same numbers in every run.
class Random {
 public:
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_{11};
};

class FileAgentFramesTest : public testing::Test {
 protected:
  FileAgentFramesTest() {
    root_ = (directory_.path() / "root").string();
    directory_.write("root/a", "inside");
    directory_.write("outside", "outside");
    std::filesystem::create_symlink("../outside", root_ + "/link");
  }
  ~FileAgentFramesTest() override { stop(); }

  void start(std::uint32_t more = 0) {
    wire::Writer order;
    order.u32(file_wire::kHoldPaths | file_wire::kHoldAttributes | more).u32(1).u32(1).text(root_);
    order.u32(1).text(root_ + "/protected");
    auto pair = *bawn::os::SocketPair::make();
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      pair.near.reset();
      ::alarm(60);
      if (warden::agent::keep_to(reinterpret_cast<const unsigned char*>(order.data().data()),
                                 order.data().size())) {
        warden::agent::serve(pair.far.get());
      }
      ::_exit(0);
    }
    stream_ = std::move(pair.near);
  }
  void stop() {
    stream_.reset();
    if (pid_ > 0) {
      int status = 0;
      ::waitpid(pid_, &status, 0);
      EXPECT_TRUE(WIFEXITED(status)) << "the agent was ended by signal " << WTERMSIG(status);
      pid_ = -1;
    }
  }

  /// The answer's type, or 0 when the agent ended.
  std::uint32_t ask(std::uint32_t op, const std::string& payload) {
    wire::Header header{op, 7, static_cast<std::uint32_t>(payload.size())};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    if (::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0 ||
        !receive(&header, sizeof header)) {
      return 0;
    }
    EXPECT_EQ(header.id, 7U);
    EXPECT_LE(header.length, file_wire::kMaxAnswer);
    reply_.resize(header.length);
    return receive(reply_.data(), reply_.size()) ? header.type : 0;
  }
  bool receive(void* into, std::size_t size) {
    // Descriptors that come along are dropped by the kernel: there is no room for them.
    return size == 0 ||
           ::recv(stream_.get(), into, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  /// A request as the server makes it, with a path near the attacks.
  std::string request(Op op, Random& random) const {
    static constexpr const char* kNames[] = {"/a", "/link", "/new",       "/../outside", "/x/y/z",
                                             "",   "/.",    "/protected", "/a/b"};
    const auto path = [&] { return root_ + kNames[random() % std::size(kNames)]; };
    wire::Writer out;
    switch (op) {
      case Op::Status:
      case Op::SetMode:
        out.u32(random());
        break;
      case Op::List:
        out.u32(random() % 2).u64(random()).u64(random()).u64(random() % 3);
        break;
      case Op::Stage:
        out.u32(random() % 2).text(".hidden");
        break;
      case Op::Discard:
        out.text(".hidden");
        break;
      case Op::Commit:
        out.u32(random() % 32).u32(random()).u64(random()).u32(random() % 4).text(".hidden");
        break;
      case Op::MakeDirectory:
        out.u32(random()).u32(random() % 4);
        break;
      case Op::Rename:
        out.u32(random() % 2).text(path());
        break;
      case Op::Remove:
        out.u32(random() % 2);
        break;
      case Op::SetAside:
        out.u32(random() % 2).text(".hidden");
        break;
      case Op::PutBack:
        out.u32(random() % 2).u64(random()).u64(random()).text(".hidden");
        break;
      case Op::ReadHeld:
        return out.u64(random() % 20).u32(random() % 20).data();
      case Op::WriteHeld:
        return out.u64(random() % 20).text("content").data();
      case Op::HandHeld:
        return random() % 8 == 0 ? out.u32(0).data() : out.data();
      case Op::Open:
      case Op::ReadLink:
      case Op::RemoveDirectory:
      case Op::TryWrite:
      case Op::TryRemove:
      case Op::TryRename:
      case Op::TrySetMode:
        break;
    }
    return out.text(path()).data();
  }

  TempDir directory_;
  std::string root_;
  std::string reply_;
  UniqueFd stream_;
  pid_t pid_ = -1;
};

TEST_F(FileAgentFramesTest, SoundRequestsAreAnswered) {
  start();
  wire::Writer open;
  open.text(root_ + "/a");
  EXPECT_EQ(ask(static_cast<std::uint32_t>(Op::Open), open.data()),
            static_cast<std::uint32_t>(file_wire::Answer::Done));
  EXPECT_TRUE(read_status(reply_));
  wire::Writer outside;
  outside.text(root_ + "/link");
  EXPECT_EQ(ask(static_cast<std::uint32_t>(Op::Open), outside.data()),
            static_cast<std::uint32_t>(file_wire::Answer::Failed));
}

/// A path of so many bytes below the root, of which nothing is there.
std::string long_path(const std::string& root, std::size_t length) {
  std::string path = root + "/";
  while (path.size() < length) {
    path += path.size() % 100 == 99 ? '/' : 'n';
  }
  path.back() = 'n';
  return path;
}

TEST_F(FileAgentFramesTest, PathsOfEveryLengthAreAnswered) {
  start();
  for (std::size_t length = file_wire::kMaxPath - 4; length <= file_wire::kMaxPath + 4; ++length) {
    const std::string path = long_path(root_, length);
    wire::Writer make;
    make.u32(0700).u32(1).text(path);
    const bool fits = length + 2 <= file_wire::kMaxPath;
    EXPECT_EQ(
        ask(static_cast<std::uint32_t>(Op::MakeDirectory), make.data()),
        static_cast<std::uint32_t>(fits ? file_wire::Answer::Done : file_wire::Answer::Failed))
        << length;
    wire::Writer remove;
    remove.u32(0).text(path);
    EXPECT_NE(ask(static_cast<std::uint32_t>(Op::Remove), remove.data()), 0U) << length;
  }
}

/// Bits of the start order.
class FileAgentRandomTest : public FileAgentFramesTest,
                            public testing::WithParamInterface<std::uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Orders, FileAgentRandomTest, testing::Values(0U, file_wire::kCarried));

TEST_P(FileAgentRandomTest, RandomRequestsEndItOrAreAnswered) {
  constexpr auto kOps = static_cast<std::uint32_t>(Op::HandHeld);
  Random random;
  start(GetParam());
  int answered = 0;
  int ended = 0;
  for (int round = 0; round < 6000; ++round) {
    const auto op = static_cast<Op>(random() % kOps + 1);
    std::string payload = request(op, random);
    for (unsigned change = random() % 3; change > 0; --change) {
      if (!payload.empty()) {
        payload[random() % payload.size()] = static_cast<char>(random());
      }
    }
    if (random() % 16 == 0) {
      payload.resize(random() % (payload.size() + 1));
    }
    const std::uint32_t type =
        ask(random() % 64 == 0 ? random() : static_cast<std::uint32_t>(op), payload);
    if (type == 0) {
      ++ended;
      stop();
      start(GetParam());
      continue;
    }
    ++answered;
    if (type == static_cast<std::uint32_t>(file_wire::Answer::Failed)) {
      EXPECT_NE(read_failure(reply_, {op, "/"}).find<FileFailure>(), nullptr);
    } else {
      EXPECT_EQ(type, static_cast<std::uint32_t>(file_wire::Answer::Done));
    }
  }
  EXPECT_GT(answered, 1000);
  EXPECT_GT(ended, 100);
  EXPECT_EQ(bawn::test::read_file(directory_.path() / "outside"), "outside");
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_TRUE(entry.path().filename() == "root" || entry.path().filename() == "outside");
  }
  EXPECT_FALSE(std::filesystem::exists(root_ + "/protected"));
}

TEST_F(FileAgentFramesTest, ACarriedFileIsHeldUntilItIsCommitted) {
  start(file_wire::kCarried);
  const auto does = [&](Op op, const wire::Writer& request) {
    return ask(static_cast<std::uint32_t>(op), request.data()) ==
           static_cast<std::uint32_t>(file_wire::Answer::Done);
  };
  wire::Writer open;
  open.text(root_ + "/a");
  ASSERT_TRUE(does(Op::Open, open));
  EXPECT_EQ(read_opened(reply_)->content, "inside");
  EXPECT_TRUE(read_opened(reply_)->whole);
  const auto write = [&](std::uint64_t offset, const std::string& text) {
    wire::Writer request;
    request.u64(offset).text(text);
    return does(Op::WriteHeld, request);
  };
  EXPECT_FALSE(write(0, "x"));  // nothing is held
  const auto stage = [&](std::uint32_t order, const std::string& path) {
    wire::Writer request;
    request.u32(order).text(".hidden").text(root_ + path);
    return does(Op::Stage, request);
  };
  const auto commit = [&] {
    wire::Writer request;
    request.u32(file_wire::kWithTime).u32(0).u64(5'000'000'000).u32(0).text(".hidden");
    request.text(root_ + "/new");
    return does(Op::Commit, request);
  };
  ASSERT_TRUE(stage(file_wire::kOnlyLook, "/new"));
  EXPECT_FALSE(commit());
  ASSERT_TRUE(stage(0, "/new"));
  ASSERT_FALSE(stage(0, "/protected"));
  EXPECT_FALSE(commit()) << "a file that was staged before the one that was refused";
  ASSERT_TRUE(stage(0, "/new"));
  EXPECT_TRUE(write(3, "lo"));
  EXPECT_TRUE(write(0, "hel"));
  ASSERT_TRUE(commit());
  EXPECT_EQ(read_committed(reply_)->file.status.mtime_ns, 5'000'000'000);
  EXPECT_EQ(bawn::test::read_file(root_ + "/new"), "hello");
  EXPECT_FALSE(commit());
}

TEST_F(FileAgentFramesTest, AFrameBeyondTheLimitEndsIt) {
  start();
  EXPECT_EQ(ask(1, std::string(file_wire::kMaxRequest + 4, 'x')), 0U);
}

TEST_F(FileAgentFramesTest, AStartOrderThatIsCutIsRefused) {
  wire::Writer order;
  order.u32(0).u32(0).u32(1).text("/a");
  const std::string whole = order.data();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(
        warden::agent::keep_to(reinterpret_cast<const unsigned char*>(whole.data()), size));
  }
  EXPECT_TRUE(
      warden::agent::keep_to(reinterpret_cast<const unsigned char*>(whole.data()), whole.size()));
}

}  // namespace
