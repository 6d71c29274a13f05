#include "bawn/sandbox/wall.hpp"
#include "floors.h"
#include "groups.hpp"

#include <unistd.h>

#include <memory>

namespace bawn::bench {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr const char* kBwrap = "/usr/bin/bwrap";

Result<> from_floor(int errnum, std::string_view what) {
  if (errnum != 0) {
    return std::unexpected(Error::from_errno(errnum, "floor", what));
  }
  return {};
}

using Launch = int (*)(char* const argv[]);

/// A case that starts `words` by `launch` and waits for it.
Case launched(std::string name, Launch launch, std::vector<std::string> words) {
  const auto kept = std::make_shared<std::vector<std::string>>(std::move(words));
  return {.name = std::move(name), .once = [kept, launch] {
            std::vector<char*> argv;
            for (std::string& word : *kept) {
              argv.push_back(word.data());
            }
            argv.push_back(nullptr);
            return timed([&] { return from_floor(launch(argv.data()), kept->front()); });
          }};
}

Result<sandbox::Wall> session_wall(const Setup& setup) {
  sandbox::WallRequest request;
  request.policy = BAWN_TRY(sandbox::preset("workspace-write"));
  request.workspace = setup.workspace;
  return sandbox::raise_wall(request);
}

Result<> run_inside(sandbox::Warden& warden, const std::string& workspace) {
  sandbox::SpawnSpec spec;
  spec.argv = {"/bin/true"};
  spec.env = {"PATH=/usr/bin:/bin"};
  spec.cwd = workspace;
  const auto child = BAWN_TRY(warden.spawn(std::move(spec)));
  BAWN_TRY(child->go());
  const sandbox::ExitStatus status = BAWN_TRY(child->wait(contract::Context{}));
  if (status.shell_code() != 0) {
    return fail(ErrorCode::Internal, "/bin/true failed inside the session");
  }
  return {};
}

Case exec_case(const Result<sandbox::Wall>& wall, const Setup& setup) {
  return {.name = "exec inside a session",
          .once = [&wall, workspace = setup.workspace]() -> Result<Nanoseconds> {
            if (!wall) {
              return std::unexpected(wall.error());
            }
            return timed([&] { return run_inside(*wall->warden, workspace); });
          },
          .floor = "vfork + exec",
          .target = 1.15};
}

}  // namespace

std::vector<Row> start_rows(const Setup& setup) {
  const Result<sandbox::Wall> wall = session_wall(setup);
  std::vector<Case> cases;
  cases.push_back(launched("bare spawn", floor_spawn, {"/bin/true"}));
  cases.push_back(launched("vfork + exec", floor_vfork, {"/bin/true"}));
  cases.push_back(exec_case(wall, setup));
  cases.push_back(launched("bawn run", floor_spawn,
                           {setup.bawn, "run", "--policy", "workspace-write", "--workspace",
                            setup.workspace, "--", "/bin/true"}));
  cases.back().floor = "bare spawn";
  cases.back().target = 3.5;
  if (::access(kBwrap, X_OK) == 0) {
    cases.push_back(
        launched("bubblewrap, all namespaces", floor_spawn,
                 {kBwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs",
                  "/tmp", "--bind", setup.workspace, setup.workspace, "--unshare-all",
                  "--die-with-parent", "--new-session", "--", "/bin/true"}));
    cases.back().floor = "bare spawn";
    cases.back().peer = true;
    cases.back().every = 3;
  }
  return measure("/bin/true from nothing", cases, setup.rounds_of(600));
}

}  // namespace bawn::bench
