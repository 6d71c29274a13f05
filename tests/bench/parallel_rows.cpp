#include "bawn/os/poll.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/shell/session.hpp"
#include "groups.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace bawn::bench {
namespace {

using contract::Result;

constexpr int kSessions = 8;
constexpr int kAtOnce = 64;

/// `work` in 64 threads at once, each with its number; the first error of any.
template <class Work>
Result<> in_parallel(const Work& work) {
  std::vector<Result<>> results(kAtOnce);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kAtOnce; ++i) {
    threads.emplace_back([&, i] { results[static_cast<std::size_t>(i)] = work(i); });
  }
  threads.clear();
  for (Result<>& one : results) {
    BAWN_TRY(std::move(one));
  }
  return {};
}

Result<> bare_spawn() {
  const auto child =
      BAWN_TRY(os::spawn({.program = "/bin/true", .argv = {"true"}, .env = {}, .fds = {}}));
  BAWN_TRY(os::wait_readable(child.get(), contract::Context{}));
  std::ignore = child.reap();
  return {};
}

using Sessions = std::vector<std::shared_ptr<shell::Session>>;

Result<Sessions> start_sessions(const Setup& setup) {
  Sessions sessions;
  for (int i = 0; i < kSessions; ++i) {
    shell::SessionConfig config;
    config.name = fmt::format("parallel-{}", i);
    config.policy = BAWN_TRY(sandbox::preset("workspace-write"));
    config.workspace = setup.workspace;
    config.state_dir = setup.state_dir;
    config.environment = {"PATH=/usr/bin:/bin", "HOME=/"};
    sessions.push_back(BAWN_TRY(shell::Session::start(std::move(config))));
  }
  return sessions;
}

Result<> run_true(shell::Session& session) {
  shell::ExecRequest request;
  request.argv = {"/bin/true"};
  const auto result = BAWN_TRY(session.exec(contract::Context{}, std::move(request)));
  return result.exit_code == 0
             ? Result<>()
             : contract::fail(contract::ErrorCode::Internal, "/bin/true did not end with 0");
}

}  // namespace

std::vector<Row> parallel_rows(const Setup& setup) {
  const auto sessions = std::make_shared<Result<Sessions>>(start_sessions(setup));
  const std::string floor = "64 bare spawns in 64 threads";
  const std::vector<Case> cases = {
      {.name = floor,
       .once = [] { return timed([] { return in_parallel([](int) { return bare_spawn(); }); }); }},
      {.name = "64 exec calls over 8 sessions",
       .once = [sessions]() -> Result<Nanoseconds> {
         if (!*sessions) {
           return std::unexpected(sessions->error());
         }
         return timed([&] {
           return in_parallel([&](int i) {
             return run_true(*(**sessions)[static_cast<std::size_t>(i % kSessions)]);
           });
         });
       },
       .floor = floor}};
  return measure("64 programs at once", cases, setup.rounds_of(50));
}

}  // namespace bawn::bench
