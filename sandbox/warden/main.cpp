#include "relay/relay.hpp"
#include "warden.hpp"

#include <string.h>
#include <unistd.h>

namespace {

constexpr char kUsage[] =
    "bawn-warden is started by bawn for each session and does nothing by itself; see bawn(1).\n";

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
  (void)!write(STDERR_FILENO, kUsage, sizeof kUsage - 1);
  return 2;
}
