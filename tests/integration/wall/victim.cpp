// A server that gets killed: starts a session, three processes in it (one in a session of its own,
// one ignoring TERM), prints the host numbers of all and of the warden, and waits to die.
//   wall_victim namespaces|bare WORKSPACE [fork]
#include "plans.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

constexpr const char* kCrowd =
    "setsid sleep 1000 & (sleep 1000 &) ; trap '' TERM INT HUP; echo; sleep 1000; sleep 1000";

std::size_t count_sleepers(bawn::sandbox::Warden& warden) {
  std::size_t sleepers = 0;
  for (const auto& process : warden.tree().value_or(std::vector<bawn::sandbox::ProcessInfo>{})) {
    sleepers += process.name == "sleep" ? 1U : 0U;
  }
  return sleepers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  const auto plan = argv[1] == std::string("namespaces") ? bawn::test::namespace_plan(argv[2], 1234)
                                                         : bawn::test::bare_plan();
  bawn::sandbox::Warden::Options options;
  options.fork_stub = argc > 3;
  const auto warden = bawn::sandbox::Warden::start(plan, options);
  if (!warden) {
    fmt::print(stderr, "{}\n", warden.error().message());
    return 1;
  }
  auto child = (*warden)->spawn(bawn::test::spec({"bash", "-c", kCrowd}));
  if (!child || !(*child)->go()) {
    return 1;
  }
  while (count_sleepers(**warden) < 3) {
  }
  std::string line = fmt::format("{}", (*warden)->pid());
  const auto tree = (*warden)->tree();
  for (const auto& process : *tree) {
    line += fmt::format(" {}", process.pid);
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);
  for (;;) {
    ::pause();
  }
}
