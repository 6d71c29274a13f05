#include "stdio/line_reader.hpp"
#include "stdio/line_writer.hpp"
#include "stdio/streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace bawn::mcp {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> lines_of(LineReader& reader, std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const auto space = reader.prepare();
    const std::size_t size = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), size, space.begin());
    reader.commit(size);
    bytes.remove_prefix(size);
    while (const auto line = reader.next()) {
      lines.push_back((line->too_long ? "too long: " : "") + std::string(line->text.substr(0, 20)));
    }
  }
  return lines;
}

TEST(LineReader, CutsAtNewlinesOnly) {
  LineReader reader(1000);
  EXPECT_THAT(lines_of(reader, "a\nb\r\n\n \t\r\nc\rd\n"), ElementsAre("a", "b", "c\rd"));
  EXPECT_FALSE(reader.last());
}

TEST(LineReader, JoinsALineOfManyPieces) {
  LineReader reader(1000);
  for (const auto* const piece : {"a", "b", "", "c"}) {
    EXPECT_THAT(lines_of(reader, piece), ElementsAre());
  }
  EXPECT_THAT(lines_of(reader, "d\ne"), ElementsAre("abcd"));
  const auto last = reader.last();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->text, "e");
}

TEST(LineReader, TakesALineOfExactlyTheLimit) {
  LineReader reader(10);
  EXPECT_THAT(lines_of(reader, "0123456789\n"), ElementsAre("0123456789"));
  EXPECT_THAT(lines_of(reader, "0123456789a\nb\n"), ElementsAre("too long: 0123456789a", "b"));
}

TEST(LineReader, SkipsAHugeLineInBoundedMemory) {
  constexpr std::size_t kLimit = 100'000;
  LineReader reader(kLimit);
  const std::string chunk(64 * 1024, 'x');
  std::size_t reported = 0;
  for (int i = 0; i < 2000; ++i) {
    reported += lines_of(reader, chunk).size();
    ASSERT_LT(reader.prepare().size(), kLimit * 4);
  }
  EXPECT_EQ(reported, 1U);
  EXPECT_THAT(lines_of(reader, "\nafter\n"), ElementsAre("after"));
}

TEST(LineReader, ForgetsAnEndlessLineAtTheEnd) {
  LineReader reader(10);
  EXPECT_EQ(lines_of(reader, std::string(50, 'x')).size(), 1U);
  EXPECT_FALSE(reader.last());
}

/// A pipe or socket whose reading end is non-blocking.
class Channel {
 public:
  static Channel pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    return {ends[0], ends[1]};
  }
  static Channel socket() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    return {ends[0], ends[1]};
  }
  std::string read_all() {
    std::string all;
    std::array<char, 65536> chunk{};
    ssize_t got = 0;
    while ((got = ::read(reading.get(), chunk.data(), chunk.size())) > 0) {
      all.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  UniqueFd reading;
  UniqueFd writing;

 private:
  Channel(int read_end, int write_end) : reading(read_end), writing(write_end) {
    ::fcntl(read_end, F_SETFL, O_NONBLOCK);
  }
};

/// More than a pipe holds when the writer has grown it to a megabyte.
constexpr std::size_t kLarge = 2'700'000;
constexpr std::size_t kLimit = 3'000'000;

class LineWriterTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, nullptr);
  }
  /// 0: a socket, 1: a pipe with a description of its own, 2: a plain blocking pipe.
  Channel channel_ = GetParam() == 0 ? Channel::socket() : Channel::pipe();
  LineWriter writer_{
      GetParam() == 1
          ? open_streams(channel_.reading.get(), channel_.writing.get(), false).value().out
          : UniqueFd(::fcntl(channel_.writing.get(), F_DUPFD_CLOEXEC, 3)),
      kLimit};

  std::string drain() {
    std::string all = channel_.read_all();
    while (writer_.flush() == LineWriter::State::Waiting) {
      all += channel_.read_all();
    }
    return all + channel_.read_all();
  }
};

TEST_P(LineWriterTest, WritesAtOnceWhatFits) {
  EXPECT_EQ(writer_.send("a"), LineWriter::State::Clear);
  EXPECT_EQ(channel_.read_all(), "a\n");
}

TEST_P(LineWriterTest, QueuesInOrderWhatDoesNotFitAndNeverBlocks) {
  const std::string large(kLarge, 'x');
  EXPECT_EQ(writer_.send(large), LineWriter::State::Waiting);
  EXPECT_EQ(writer_.send("b"), LineWriter::State::Waiting);
  EXPECT_EQ(drain(), large + "\nb\n");
  EXPECT_TRUE(writer_.clear());
}

TEST_P(LineWriterTest, ReplacesAWaitingProgressMessageOfOneKey) {
  const std::string large(kLarge, 'x');
  EXPECT_EQ(writer_.send(large), LineWriter::State::Waiting);
  writer_.send_droppable("t1", "one");
  writer_.send_droppable("t2", "other");
  writer_.send_droppable("t1", "two");
  EXPECT_EQ(drain(), large + "\nother\ntwo\n");
}

TEST_P(LineWriterTest, DropsProgressButNeverAnAnswerAboveTheLimit) {
  const std::string large(kLarge, 'x');
  EXPECT_EQ(writer_.send(large), LineWriter::State::Waiting);
  writer_.send_droppable("t1", "one");
  EXPECT_EQ(writer_.send(large), LineWriter::State::Waiting);
  EXPECT_TRUE(writer_.full());
  writer_.send_droppable("t1", "two");
  EXPECT_EQ(drain(), large + "\n" + large + "\n");
  EXPECT_FALSE(writer_.full());
}

TEST_P(LineWriterTest, TellsThatTheOtherEndIsClosed) {
  channel_.reading = UniqueFd();
  EXPECT_EQ(writer_.send("a"), LineWriter::State::Broken);
  EXPECT_EQ(writer_.send("b"), LineWriter::State::Broken);
  EXPECT_TRUE(writer_.clear());
}

INSTANTIATE_TEST_SUITE_P(Ways, LineWriterTest, ::testing::Values(0, 1, 2));

TEST(OpenStreams, RefusesADescriptorThatIsNotOpen) {
  const auto streams = open_streams(1'000'000, 1, false);
  ASSERT_FALSE(streams);
  EXPECT_EQ(streams.error().code(), contract::ErrorCode::InvalidArgument);
}

TEST(OpenStreams, LeavesTheClientsDescriptionBlocking) {
  Channel channel = Channel::pipe();
  const auto streams = open_streams(channel.reading.get(), channel.writing.get(), false);
  ASSERT_TRUE(streams);
  EXPECT_NE(::fcntl(streams->out.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(channel.writing.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(streams->in.get(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace bawn::mcp
