// What a process costs inside a session, and a session itself, beside vfork+exec in the same run.
// Rows are measured in turn (A B C A B C ...), so that a busy moment hits all of them.
//   spawn_bench [ITERATIONS] [WORKSPACE]
#include "bawn/os/pipe.hpp"
#include "bawn/sandbox/wall.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace bawn;
using Clock = std::chrono::steady_clock;

constexpr const char* kProgram = "/bin/true";

struct Row {
  std::string name;
  std::function<bool()> once;
  std::vector<double> micros = {};
};

bool bare() {
  char* const argv[] = {const_cast<char*>(kProgram), nullptr};
  const pid_t pid = ::vfork();
  if (pid == 0) {
    ::execve(kProgram, argv, environ);
    ::_exit(127);
  }
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && status == 0;
}

bool inside(sandbox::Warden& warden) {
  sandbox::SpawnSpec spec;
  spec.argv = {kProgram};
  spec.cwd = "/";
  auto child = warden.spawn(std::move(spec));
  if (!child || !(*child)->go()) {
    return false;
  }
  const auto status = (*child)->wait(contract::Context());
  return status && status->code == 0;
}

sandbox::WallRequest request(const char* policy, const std::string& workspace) {
  sandbox::WallRequest wanted;
  wanted.policy = sandbox::preset(policy).value_or(sandbox::Policy{});
  wanted.workspace = workspace;
  return wanted;
}

bool session(const sandbox::WallRequest& wanted) {
  const auto wall = sandbox::raise_wall(wanted);
  return wall && inside(*wall->warden);
}

double quantile(std::vector<double>& values, double at) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string workspace = argc > 2 ? argv[2] : "/tmp";
  const auto open = sandbox::raise_wall(request("unconfined", workspace));
  const auto walled = sandbox::raise_wall(request("workspace-write", workspace));
  if (!open || !walled) {
    fmt::print(stderr, "no session: {}\n", (open ? walled : open).error().message());
    return 1;
  }
  std::vector<Row> rows;
  rows.push_back({"vfork + exec, bare", bare});
  rows.push_back({"in a session without a wall", [&] { return inside(*open->warden); }});
  rows.push_back(
      {"in a session, " + walled->warden->report().by, [&] { return inside(*walled->warden); }});
  rows.push_back(
      {"a whole session, unconfined", [&] { return session(request("unconfined", workspace)); }});
  rows.push_back({"a whole session, workspace-write",
                  [&] { return session(request("workspace-write", workspace)); }});
  for (int round = -3; round < iterations; ++round) {
    for (Row& row : rows) {
      const auto start = Clock::now();
      if (!row.once()) {
        fmt::print(stderr, "failed: {}\n", row.name);
        return 1;
      }
      if (round >= 0) {
        row.micros.push_back(
            std::chrono::duration<double, std::micro>(Clock::now() - start).count());
      }
    }
  }
  const double floor = quantile(rows.front().micros, 0.5);
  fmt::print("| {:<55} | p10 us | p50 us | p99 us | x bare |\n", "work");
  for (Row& row : rows) {
    fmt::print("| {:<55} | {:6.0f} | {:6.0f} | {:6.0f} | {:6.2f} |\n", row.name,
               quantile(row.micros, 0.1), quantile(row.micros, 0.5), quantile(row.micros, 0.99),
               quantile(row.micros, 0.5) / floor);
  }
  return 0;
}
