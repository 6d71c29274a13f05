// Files that are carried over a relay, against an agent that is in other hands or dies.
#include "bawn/os/pipe.hpp"
#include "file_client.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace bawn::sandbox;
using bawn::contract::Context;
using bawn::os::UniqueFd;
using file_wire::kMaxContent;
using file_wire::Op;
using testing::HasSubstr;

std::string status(std::uint64_t size, std::uint64_t changed = 7) {
  wire::Writer out;
  out.u32(static_cast<std::uint32_t>(FileType::Regular)).u32(0644).u32(1).u32(2);
  out.u64(size).u64(6).u64(changed).u64(8).u64(9).u64(1);
  return out.data();
}

std::string opened(const std::string& before, std::string_view content, bool whole,
                   const std::string& after) {
  wire::Writer out;
  out.u32(whole ? file_wire::kContentEnds : 0U).bytes(before.data(), before.size());
  out.u32(0).text(content).bytes(after.data(), after.size());
  return out.data();
}

std::string part(std::string_view content, const std::string& after) {
  wire::Writer out;
  out.text(content).bytes(after.data(), after.size());
  return out.data();
}

std::string staged() {
  wire::Writer out;
  out.u32(0).u32(0).text("/ws/a").u32(0).u64(8).u64(9);
  return out.data();
}

std::string committed() {
  wire::Writer out;
  const std::string now = status(3);
  out.u32(file_wire::kOwnerKept).bytes(now.data(), now.size());
  return out.data();
}

/// What an agent does with a request: an answer, a failure, or its end.
struct Deed {
  std::string payload;
  int errnum = 0;
  bool dies = false;
};

const Deed kDies{{}, 0, true};
Deed says(std::string payload) {
  return {std::move(payload), 0, false};
}
Deed fails(int errnum) {
  return {{}, errnum, false};
}

/// Agents that do what a test says.
class FakeAgents {
 public:
  using Script = std::function<Deed(Op op, std::string_view payload)>;
  explicit FakeAgents(Script script) : script_(std::move(script)) {}
  ~FakeAgents() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  FakeAgents(const FakeAgents&) = delete;
  FakeAgents& operator=(const FakeAgents&) = delete;

  std::shared_ptr<FileAgent> connect() {
    auto start = [this]() -> Result<std::unique_ptr<FileChannel>> {
      auto ends = *bawn::os::SocketPair::make();
      threads_.emplace_back([this, far = std::move(ends.far)] { serve(far.get()); });
      return std::make_unique<FileChannel>(std::move(ends.near), AttributesSetter());
    };
    return make_file_agent(std::make_shared<FilePool>(std::move(start), true));
  }
  [[nodiscard]] long count(Op op) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::count(asked_, op);
  }

 private:
  void serve(int stream) {
    for (;;) {
      wire::Header header;
      if (::recv(stream, &header, sizeof header, MSG_WAITALL) != sizeof header) {
        return;
      }
      std::string payload(header.length, '\0');
      if (!payload.empty() && ::recv(stream, payload.data(), payload.size(), MSG_WAITALL) !=
                                  static_cast<ssize_t>(payload.size())) {
        return;
      }
      const Deed deed = do_next(static_cast<Op>(header.type), payload);
      if (deed.dies || !answer(stream, header.id, deed)) {
        return;
      }
    }
  }
  Deed do_next(Op op, std::string_view payload) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(op);
    return script_(op, payload);
  }
  static bool answer(int stream, std::uint32_t id, const Deed& deed) {
    wire::Writer failure;
    failure.u32(static_cast<std::uint32_t>(deed.errnum)).u32(0).u32(0).text("pwrite");
    const std::string& payload = deed.errnum != 0 ? failure.data() : deed.payload;
    const auto type = deed.errnum != 0 ? file_wire::Answer::Failed : file_wire::Answer::Done;
    const wire::Header header{static_cast<std::uint32_t>(type), id,
                              static_cast<std::uint32_t>(payload.size())};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count = ::send(stream, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) {
        return false;
      }
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }

  Script script_;
  mutable std::mutex mutex_;  ///< one agent works at a time; the next is another thread
  std::vector<Op> asked_;
  std::vector<std::thread> threads_;
};

std::string read_all(const OpenedFile& file) {
  std::string bytes(1 << 20, '\0');
  const ssize_t count = ::read(file.fd.get(), bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

/// Opens a file of which each Open does the next of `opens` and each ReadHeld the same.
Result<OpenedFile> open_from(std::vector<Deed> opens, const Deed& reads, long* tries = nullptr) {
  FakeAgents agents([&, at = std::size_t{0}](Op op, std::string_view) mutable {
    return op == Op::Open ? opens.at(std::min(at++, opens.size() - 1)) : reads;
  });
  auto result = agents.connect()->open(Context(), "/ws/a");
  if (tries != nullptr) {
    *tries = agents.count(Op::Open);
  }
  return result;
}

TEST(CarriedOpenTest, ASmallFileIsOneRequest) {
  long tries = 0;
  const auto file = open_from({{says(opened(status(5), "text\n", true, status(5)))}}, {}, &tries);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(read_all(*file), "text\n");
  EXPECT_EQ(file->status.size, 5U);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(::write(file->fd.get(), "x", 1), -1);  // a copy that cannot be changed
}

TEST(CarriedOpenTest, ALargeFileComesInParts) {
  const std::string first(kMaxContent, 'a');
  const auto file =
      open_from({{says(opened(status(first.size() + 3), first, false, status(first.size() + 3)))}},
                {part("end", status(first.size() + 3))});
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(read_all(*file), first + "end");
}

TEST(CarriedOpenTest, AFileThatKeepsChangingIsBusy) {
  long tries = 0;
  const auto file =
      open_from({{says(opened(status(5), "text\n", true, status(5, 8)))}}, {}, &tries);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::Busy);
  EXPECT_EQ(file.error().find<FileFailure>()->kind, FileFailure::Kind::Changed);
  EXPECT_EQ(tries, 2);
}

TEST(CarriedOpenTest, AFileThatChangedOnceIsReadAgain) {
  const auto file = open_from({says(opened(status(5), "mixed", true, status(5, 8))),
                               says(opened(status(5, 8), "whole", true, status(5, 8)))},
                              {});
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(read_all(*file), "whole");
}

TEST(CarriedOpenTest, OneThatChangesBetweenTwoPartsIsNoticed) {
  const std::string first(kMaxContent, 'a');
  const std::string before = status(first.size() + 3);
  const auto file = open_from({{says(opened(before, first, false, before))}},
                              {part("end", status(first.size() + 3, 8))});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::Busy);
}

TEST(CarriedOpenTest, OneThatIsTooLargeIsRefusedBeforeItIsRead) {
  const std::string huge = status(std::uint64_t{300} << 20U);
  const auto file = open_from({{says(opened(huge, "x", false, huge))}}, kDies);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::ResourceExhausted);
  EXPECT_THAT(file.error().message(), HasSubstr("314572800 bytes and is larger than 268435456"));
}

TEST(CarriedOpenTest, ContentWithoutEndIsGivenUp) {
  // As a file below /proc: its size tells nothing.
  const auto file = open_from({{says(opened(status(0), "x", false, status(0)))}},
                              {part(std::string(kMaxContent, 'x'), status(0))});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::ResourceExhausted);
}

TEST(CarriedOpenTest, MoreThanWasAskedForIsMalformed) {
  const auto file = open_from({{says(opened(status(0), "x", false, status(0)))}},
                              {part(std::string(kMaxContent + 1, 'x'), status(0))});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::Internal);
}

TEST(CarriedOpenTest, EveryCutAnswerIsMalformed) {
  const std::string whole = opened(status(5), "text\n", true, status(5));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_opened(whole.substr(0, size)));
  }
  EXPECT_FALSE(read_opened(whole + std::string(4, '\0')));
  const std::string content = part("text", status(5));
  for (std::size_t size = 0; size < content.size(); ++size) {
    EXPECT_FALSE(read_content(content.substr(0, size), 4));
  }
  EXPECT_TRUE(read_content(content, 4));
  EXPECT_FALSE(read_content(content, 3));
}

TEST(CarriedOpenTest, AnAgentThatDiesIsReplacedAFewTimes) {
  long tries = 0;
  const Deed sound = says(opened(status(5), "text\n", true, status(5)));
  EXPECT_TRUE(open_from({kDies, kDies, sound}, {}, &tries));
  EXPECT_EQ(tries, 3);
  const auto given_up = open_from({kDies}, {}, &tries);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code(), ErrorCode::Closed);
  EXPECT_LT(tries, 10);
}

/// Writes a file through agents that do as the script says.
struct Wrote {
  Result<CommittedFile> result;
  std::vector<std::string> hidden;  ///< of each Stage
  long commits = 0;
};
Wrote write(std::size_t size,
            const std::function<std::optional<Deed>(Op, std::size_t at)>& script) {
  Wrote wrote;
  FakeAgents agents([&, at = std::size_t{0}](Op op, std::string_view payload) mutable -> Deed {
    wire::Reader in(reinterpret_cast<const unsigned char*>(payload.data()), payload.size());
    if (op == Op::Stage) {
      (void)in.u32();
      wrote.hidden.emplace_back(in.text());
    }
    if (auto deed = script(op, at++)) {
      return *std::move(deed);
    }
    return says(op == Op::Stage ? staged() : op == Op::Commit ? committed() : std::string());
  });
  const auto files = agents.connect();
  auto file = files->stage(Context(), "/ws/a", {});
  if (!file) {
    wrote.result = std::unexpected(file.error());
    return wrote;
  }
  const std::string bytes(size, 'n');
  EXPECT_EQ(::write((*file)->fd(), bytes.data(), bytes.size()), static_cast<ssize_t>(size));
  wrote.result = (*file)->commit(Context(), {});
  wrote.commits = agents.count(Op::Commit);
  return wrote;
}

TEST(CarriedCommitTest, StagesWritesAndCommits) {
  const Wrote wrote = write(kMaxContent * 20, [](Op, std::size_t) { return std::nullopt; });
  ASSERT_TRUE(wrote.result) << wrote.result.error().message();
  EXPECT_EQ(wrote.hidden.size(), 2U);  // the first one only looks
  EXPECT_EQ(wrote.commits, 1);
}

TEST(CarriedCommitTest, AWriteThatFailsIsNotCommitted) {
  const Wrote wrote = write(kMaxContent * 20, [](Op op, std::size_t at) {
    return op == Op::WriteHeld && at == 5 ? std::optional(fails(ENOSPC)) : std::nullopt;
  });
  ASSERT_FALSE(wrote.result);
  EXPECT_EQ(wrote.result.error().find<FileFailure>()->errnum, ENOSPC);
  EXPECT_THAT(wrote.result.error().message(), HasSubstr("cannot write /ws/a"));
  EXPECT_EQ(wrote.commits, 0);
}

TEST(CarriedCommitTest, AnAgentThatDiesBeforeTheCommitIsReplaced) {
  const Wrote wrote = write(10, [](Op op, std::size_t at) {
    return op == Op::WriteHeld && at == 2 ? std::optional(kDies) : std::nullopt;
  });
  ASSERT_TRUE(wrote.result) << wrote.result.error().message();
  ASSERT_EQ(wrote.hidden.size(), 3U);
  EXPECT_NE(wrote.hidden[1], wrote.hidden[2]);
  EXPECT_EQ(wrote.commits, 1);
}

TEST(CarriedCommitTest, AfterADeathInTheCommitTheNameTells) {
  for (const bool there : {true, false}) {
    const Wrote wrote = write(10, [&](Op op, std::size_t) -> std::optional<Deed> {
      if (op == Op::Status) {
        return there ? says(status(10)) : fails(ENOENT);
      }
      return op == Op::Commit ? std::optional(kDies) : std::nullopt;
    });
    EXPECT_EQ(wrote.result.has_value(), there);
    EXPECT_EQ(wrote.commits, 1);
    if (there) {
      EXPECT_FALSE(wrote.result->durable);
    } else {
      EXPECT_EQ(wrote.result.error().find<FileFailure>()->kind, FileFailure::Kind::Lost);
    }
  }
}

TEST(CarriedCommitTest, AnswersThatAreNoneAreNotBelieved) {
  for (const Op bad : {Op::Stage, Op::WriteHeld, Op::Commit}) {
    const Wrote wrote = write(10, [&](Op op, std::size_t at) {
      return op == bad && at > 0 ? std::optional(says("nonsense")) : std::nullopt;
    });
    ASSERT_FALSE(wrote.result);
    EXPECT_EQ(wrote.result.error().code(), ErrorCode::Internal);
    EXPECT_EQ(wrote.commits, bad == Op::Commit ? 1 : 0);
  }
}

}  // namespace
