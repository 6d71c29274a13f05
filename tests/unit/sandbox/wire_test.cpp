#include "bawn/os/pipe.hpp"
#include "frame_stream.hpp"
#include "warden.hpp"
#include "warden_link.hpp"
#include "wire_encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <random>

namespace {

using namespace bawn::sandbox;
using bawn::contract::ErrorCode;
using wire::Reader;

Reader reader_of(const std::string& bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}

SessionPlan full_plan() {
  SessionPlan plan;
  plan.uid = 1000;
  plan.gid = 1001;
  plan.landlock = {7, 0xffff, 3, 3, 8, {{"/", 13}, {"/work", 0xffff}}, {}};
  plan.seccomp.apply = true;
  plan.seccomp.program = {{0x20, 0, 0, 4}, {0x06, 0, 0, 0x7fff0000}};
  plan.namespaces.clone_flags = CLONE_NEWUSER | CLONE_NEWPID;
  plan.namespaces.full_identity_map = true;
  plan.namespaces.hostname = "host";
  plan.namespaces.mounts = {{MountStep::Kind::Tmpfs, "tmpfs", "/tmp", "size=1m", true},
                            {MountStep::Kind::Chdir, "", "/", "", false}};
  plan.hygiene.apply = true;
  plan.hygiene.rlimits = {{7, 1, 2}};
  return plan;
}

std::string blob() {
  return *wire::encode_plan(full_plan(), 42, 0);
}

bool read(const std::string& bytes, warden::PlanView& view) {
  return warden::read_plan(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                           view);
}

TEST(WireTest, PlanArrivesAsItWasSent) {
  const std::string bytes = blob();
  warden::PlanView view;
  ASSERT_TRUE(read(bytes, view));
  EXPECT_EQ(view.server_pid, 42);
  EXPECT_EQ(view.uid, 1000U);
  EXPECT_EQ(view.gid, 1001U);
  EXPECT_TRUE(view.has(wire::kFullIdentityMap));
  EXPECT_TRUE(view.has(wire::kSeccomp));
  EXPECT_TRUE(view.has(wire::kNoNewPrivs));
  EXPECT_FALSE(view.has(wire::kLoopbackUp));
  EXPECT_STREQ(view.hostname, "host");
  EXPECT_EQ(view.landlock.abi, 7U);
  EXPECT_EQ(view.landlock.restrict_flags, 8U);
  ASSERT_EQ(view.landlock.count, 2U);
  EXPECT_EQ(view.landlock.rules.u64(), 13U);
  EXPECT_STREQ(view.landlock.rules.text(), "/");
  EXPECT_EQ(view.filter_length, 2U);
  ASSERT_EQ(view.rlimit_count, 1U);
  ASSERT_EQ(view.mount_count, 2U);
  EXPECT_EQ(view.mounts.u32(), static_cast<std::uint32_t>(wire::MountKind::Tmpfs));
  EXPECT_EQ(view.mounts.u32(), 1U);
  EXPECT_STREQ(view.mounts.text(), "tmpfs");
  EXPECT_STREQ(view.mounts.text(), "/tmp");
  EXPECT_STREQ(view.mounts.text(), "size=1m");
}

TEST(WireTest, NoPrefixOfAPlanIsAPlan) {
  const std::string bytes = blob();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // An exact copy, so that a sanitizer sees any read behind the end.
    const std::vector<unsigned char> part(bytes.begin(),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(size));
    warden::PlanView view;
    EXPECT_FALSE(warden::read_plan(part.data(), part.size(), view)) << size;
  }
  warden::PlanView view;
  EXPECT_FALSE(read(bytes + std::string(4, '\0'), view));
}

TEST(WireTest, DamagedPlansAreReadWithoutLeavingThem) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same damage in every run
  const std::string bytes = blob();
  for (int round = 0; round < 20000; ++round) {
    std::vector<unsigned char> damaged(bytes.begin(), bytes.end());
    for (int count = 0; count < 3; ++count) {
      damaged[random() % damaged.size()] = static_cast<unsigned char>(random());
    }
    warden::PlanView view;
    (void)warden::read_plan(damaged.data(), damaged.size(), view);
  }
}

TEST(WireTest, NulInAPathIsRefused) {
  SessionPlan plan = full_plan();
  plan.landlock.rules[0].path = std::string("/a\0b", 4);
  EXPECT_EQ(wire::encode_plan(plan, 1, 0).error().code(), ErrorCode::InvalidArgument);
}

TEST(WireReaderTest, TextsMustEndWhereTheySay) {
  wire::Writer out;
  out.text("abc").text("").u32(7);
  Reader in = reader_of(out.data());
  EXPECT_STREQ(in.text(), "abc");
  EXPECT_STREQ(in.text(), "");
  EXPECT_EQ(in.u32(), 7U);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(in.u32(), 0U);
  EXPECT_FALSE(in.ok());

  struct Case {
    const char* what;
    std::string bytes;
  };
  const Case cases[] = {
      {"a length beyond the end", std::string("\xff\xff\xff\xff"
                                              "abc",
                                              8)},
      {"a length that wraps around", std::string("\xfd\xff\xff\xff"
                                                 "abc",
                                                 8)},
      {"no NUL at the end", std::string("\x03\0\0\0abcd", 8)},
      {"a NUL inside", std::string("\x03\0\0\0a\0c\0", 8)},
      {"half a length", std::string("\x03\0", 2)},
  };
  for (const Case& wrong : cases) {
    Reader reader = reader_of(wrong.bytes);
    EXPECT_STREQ(reader.text(), "") << wrong.what;
    EXPECT_FALSE(reader.ok()) << wrong.what;
  }
}

TEST(WireReaderTest, CountsAreBoundedByTheirBytes) {
  wire::Writer out;
  out.u32(3).u64(1).u64(2);
  Reader enough = reader_of(out.data());
  EXPECT_EQ(enough.count(4), 3U);
  Reader short_of = reader_of(out.data());
  EXPECT_EQ(short_of.count(8), 0U);
  EXPECT_FALSE(short_of.ok());
}

struct Streams {
  Streams() : Streams(*bawn::os::SocketPair::make()) {}
  explicit Streams(bawn::os::SocketPair pair)
      : near(std::move(pair.near)), far(std::move(pair.far)) {}
  FrameStream near;
  bawn::os::UniqueFd far;
};

TEST(FrameStreamTest, GluedAndSplitFramesComeWholeWithTheirDescriptors) {
  Streams streams;
  const auto pipe = *bawn::os::Pipe::make();
  const std::string big(100000, 'x');
  std::vector<Frame> frames;
  const auto take = [&](Frame&& frame) { frames.push_back(std::move(frame)); };
  ASSERT_TRUE(warden::send_frame(streams.far.get(), wire::Type::Exited, 1, "1234", 4, -1));
  ASSERT_TRUE(
      warden::send_frame(streams.far.get(), wire::Type::Spawned, 2, "5678", 4, pipe.read.get()));
  ASSERT_TRUE(
      warden::send_frame(streams.far.get(), wire::Type::Spawned, 3, nullptr, 0, pipe.write.get()));
  ASSERT_TRUE(
      warden::send_frame(streams.far.get(), wire::Type::Listed, 4, big.data(), big.size(), -1));
  while (frames.size() < 4) {
    ASSERT_TRUE(streams.near.pump(take));
  }
  EXPECT_EQ(frames[0].payload, "1234");
  EXPECT_FALSE(frames[0].fd.is_open());
  EXPECT_EQ(frames[1].id, 2U);
  ASSERT_TRUE(frames[1].fd.is_open());
  ASSERT_TRUE(frames[2].fd.is_open());
  EXPECT_EQ(frames[3].payload, big);
  // The right ones: what is written to the one comes out of the other.
  ASSERT_EQ(::write(frames[2].fd.get(), "y", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(frames[1].fd.get(), &byte, 1), 1);
}

TEST(FrameStreamTest, NonsenseEndsTheStream) {
  const wire::Header too_long{static_cast<std::uint32_t>(wire::Type::Listed), 1,
                              static_cast<std::uint32_t>(wire::kMaxPayload) + 1};
  const wire::Header without_descriptor{static_cast<std::uint32_t>(wire::Type::Spawned), 1, 0};
  for (const wire::Header& header : {too_long, without_descriptor}) {
    Streams streams;
    ASSERT_EQ(::send(streams.far.get(), &header, sizeof header, 0),
              static_cast<ssize_t>(sizeof header));
    EXPECT_FALSE(streams.near.pump([](Frame&&) { FAIL() << "a frame out of nonsense"; }));
  }
}

TEST(FrameStreamTest, RequestArrivesAtTheWardenWithItsDescriptors) {
  Streams streams;
  const auto pipe = *bawn::os::Pipe::make();
  const int fds[] = {pipe.read.get(), pipe.write.get()};
  ASSERT_TRUE(streams.near.send(wire::Type::Spawn, 9, "payload!", fds));
  wire::Header header;
  int received[wire::kMaxFds];
  ASSERT_TRUE(warden::receive_header(streams.far.get(), header, received));
  EXPECT_EQ(header.id, 9U);
  ASSERT_EQ(header.length, 8U);
  char payload[8];
  ASSERT_TRUE(warden::receive_bytes(streams.far.get(), payload, sizeof payload));
  EXPECT_EQ(std::string(payload, 8), "payload!");
  EXPECT_GE(received[0], 0);
  EXPECT_GE(received[1], 0);
  EXPECT_EQ(received[2], -1);
  ::close(received[0]);
  ::close(received[1]);
}

TEST(WardenLinkTest, AnswerThatDoesNotComeIsADeadline) {
  auto pair = bawn::os::SocketPair::make();
  ASSERT_TRUE(pair);
  WardenLink link(std::move(pair->near), std::chrono::milliseconds(20));
  const auto answer = link.ask(wire::Type::Tree, {}, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::DeadlineExceeded);
  EXPECT_TRUE(link.alive());
}

TEST(WardenLinkTest, StreamThatNobodyReadsIsClosed) {
  auto pair = bawn::os::SocketPair::make();
  ASSERT_TRUE(pair);
  WardenLink link(std::move(pair->near), std::chrono::milliseconds(20));
  const auto answer = link.ask(wire::Type::Spawn, std::string(wire::kMaxPayload, 'x'), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::Closed);
}

TEST(FrameStreamTest, SendToAClosedStreamIsClosedAndNoSignal) {
  Streams streams;
  streams.far.reset();
  EXPECT_EQ(streams.near.send(wire::Type::Tree, 1, {}, {}).error().code(), ErrorCode::Closed);
}

}  // namespace
