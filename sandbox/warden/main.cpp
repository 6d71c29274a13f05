#include "relay/relay.hpp"
#include "warden.hpp"

#include <string.h>
#include <unistd.h>

namespace {

constexpr char kUsage[] =
    "bawn-warden is started by bawn for each session and does nothing by itself; see bawn(1).\n";

/// Says something only if the kernel lets a process live that asks for Landlock's version.
int try_landlock() noexcept {
  constexpr long kCreateRuleset = 444;
  constexpr char kSurvived[] = "landlock asked\n";
  (void)syscall(kCreateRuleset, nullptr, 0L, 1L);
  return write(STDOUT_FILENO, kSurvived, sizeof kSurvived - 1) > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bawn::sandbox;
  if (argc == 2 && strcmp(argv[1], "--serve") == 0) {
    warden::run_stub(wire::kPlanFd, wire::kStreamFd);
  }
  if (argc == 2 && strcmp(argv[1], "--pipes") == 0) {
    warden::relay::run();
  }
  if (argc == 2 && strcmp(argv[1], "--exec") == 0) {
    warden::run_exec_stub();
  }
  if (argc == 3 && strcmp(argv[1], "--main") == 0) {
    warden::run_main_process(argv[2]);
  }
  if (argc == 2 && strcmp(argv[1], "--beside") == 0) {
    warden::run_beside();
  }
  if (argc == 2 && strcmp(argv[1], "--probe") == 0) {
    return warden::run_probe();
  }
  if (argc == 2 && strcmp(argv[1], "--try-landlock") == 0) {
    return try_landlock();
  }
  (void)!write(STDERR_FILENO, kUsage, sizeof kUsage - 1);
  return 2;
}
