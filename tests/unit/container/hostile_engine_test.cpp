// Engines that hang, lie or speak something else: one sentence in bounded time, and no harm.
#include "bawn/container/engine.hpp"
#include "bawn/os/unique_fd.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace bawn::container {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Answers every request on its socket with what `answer` makes of the request's first line; an
/// empty answer is none, and the connection stays open.
class FakeEngine {
 public:
  explicit FakeEngine(std::function<std::string(const std::string&)> answer)
      : answer_(std::move(answer)), stop_(::eventfd(0, EFD_CLOEXEC)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeEngine() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    thread_.join();
  }
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  [[nodiscard]] std::string path() const { return folder_.path() / "engine"; }
  [[nodiscard]] Result<std::shared_ptr<Engine>> connect(const contract::Context& context) const {
    return Engine::connect(
        context, {.kind = EngineKind::Docker, .command = {}, .socket = path(), .remote = {}}, {});
  }

 private:
  void serve() {
    std::vector<os::UniqueFd> open;
    for (;;) {
      std::array<pollfd, 2> waiting = {{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
      if (::poll(waiting.data(), waiting.size(), -1) < 0 || waiting[1].revents != 0) {
        return;
      }
      os::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::array<char, 4096> request{};
      const ssize_t count = ::read(client.get(), request.data(), request.size());
      const std::string line(request.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
      const std::string answer = answer_(line.substr(0, line.find("\r\n")));
      // The other side may have enough before the end.
      (void)::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      if (answer.empty()) {
        open.push_back(std::move(client));
      }
    }
  }

  test::TempDir folder_;
  std::function<std::string(const std::string&)> answer_;
  os::UniqueFd stop_;
  os::UniqueFd listener_;
  std::thread thread_;
};

std::string ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Like an engine for the questions that connecting asks, else `body`.
auto after_connecting(std::string body) {
  return [body = std::move(body)](const std::string& request) {
    const bool first = request.starts_with("GET /version") || request.starts_with("GET /info");
    return ok(first ? "{}" : body);
  };
}

TEST(HostileEngineTest, OneThatNeverAnswersIsSaidInTime) {
  const FakeEngine fake([](const std::string&) { return std::string(); });
  const auto soon = contract::Context().with_deadline(contract::Context::Clock::now() + 200ms);
  const auto engine = fake.connect(soon);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), ErrorCode::DeadlineExceeded);
  EXPECT_THAT(engine.error().message(), HasSubstr(fake.path()));
}

TEST(HostileEngineTest, ACommandThatNeverAnswersIsSaidInTime) {
  const test::TempDir folder;
  const auto path = folder.write("podman", "#!/bin/sh\nexec sleep 600\n");
  ::chmod(path.c_str(), 0755);
  const auto engine =
      Engine::connect(contract::Context(),
                      {.kind = EngineKind::Podman, .command = path, .socket = {}, .remote = {}},
                      {"PATH=/usr/bin:/bin"});
  ASSERT_TRUE(engine);
  const auto soon = contract::Context().with_deadline(contract::Context::Clock::now() + 200ms);
  const auto version = (*engine)->version(soon);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code(), ErrorCode::DeadlineExceeded);
  EXPECT_THAT(version.error().message(), HasSubstr("podman info"));
}

TEST(HostileEngineTest, WhatIsNoHttpIsSaid) {
  const FakeEngine fake([](const std::string&) { return std::string("SSH-2.0-OpenSSH\r\n\r\n"); });
  const auto engine = fake.connect(contract::Context());
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), ErrorCode::Closed);
}

TEST(HostileEngineTest, AnAnswerAboveTheLimitIsRefused) {
  for (const std::size_t mebibytes : {std::size_t{1}, std::size_t{17}}) {
    const FakeEngine fake(after_connecting("{}" + std::string(mebibytes << 20U, ' ')));
    const auto engine = fake.connect(contract::Context());
    ASSERT_TRUE(engine) << engine.error().message();
    EXPECT_EQ((*engine)->inspect(contract::Context(), "x").has_value(), mebibytes == 1);
  }
}

TEST(HostileEngineTest, AnAnswerThatIsTooDeepIsRefused) {
  const FakeEngine fake(after_connecting(std::string(100000, '[') + std::string(100000, ']')));
  const auto engine = fake.connect(contract::Context());
  ASSERT_TRUE(engine) << engine.error().message();
  const auto found = (*engine)->inspect(contract::Context(), "x");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::Internal);
}

TEST(ForgedAnswer, IsReadWithoutHarm) {
  for (const char* body :
       {"[]", "{}", "0", "\"text\"", "null", "[[[]]]", R"({"Id":[],"Config":7,"State":"yes"})",
        R"([{"Id":5},{"Id":null},7,"x"])", R"({"Version":{},"SecurityOptions":{"a":1}})"}) {
    SCOPED_TRACE(body);
    const FakeEngine fake([body](const std::string&) { return ok(body); });
    const auto engine = fake.connect(contract::Context());
    ASSERT_TRUE(engine) << engine.error().message();
    EXPECT_TRUE((*engine)->version(contract::Context()));
    EXPECT_TRUE((*engine)->inspect(contract::Context(), "x"));
    const auto listed = (*engine)->list(contract::Context(), "bawn.place");
    EXPECT_TRUE(!listed || listed->empty());
    EXPECT_TRUE((*engine)->has_image(contract::Context(), "x"));
    EXPECT_TRUE((*engine)->remove(contract::Context(), "x"));
  }
}

}  // namespace
}  // namespace bawn::container
