#include "plans.hpp"

#include "bawn/os/pipe.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <array>

namespace bawn::test {

namespace {

using sandbox::MountStep;
using Kind = MountStep::Kind;

constexpr std::uint64_t kReadRights = 0x1U | 0x4U | 0x8U;  // execute, read file, read directory
constexpr std::uint64_t kAllRights = 0xffff;               // ABI 5

contract::Layer layer(const char* name) {
  contract::Layer result;
  result.name = name;
  result.applied = true;
  return result;
}

}  // namespace

sandbox::SessionPlan bare_plan() {
  sandbox::SessionPlan plan;
  plan.uid = ::geteuid();
  plan.gid = ::getegid();
  return plan;
}

sandbox::SessionPlan namespace_plan(const std::string& workspace, unsigned uid) {
  sandbox::SessionPlan plan = bare_plan();
  const bool root = ::geteuid() == 0;
  plan.uid = root ? uid : plan.uid;
  plan.gid = root ? uid : plan.gid;
  auto& spaces = plan.namespaces;
  spaces.clone_flags =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  spaces.full_identity_map = root;
  spaces.loopback_up = true;
  spaces.hostname = "bawn-test";
  spaces.mounts = {
      {Kind::MakePrivate, "", "/", "", false},
      {Kind::RemountReadOnly, "", "/", "", false},
      {Kind::BindWritable, workspace, workspace, "", false},
      {Kind::HoldPath, workspace, "0", "", false},
      {Kind::Devices, "", "/dev", "mode=1777", false},
      {Kind::Proc, "proc", "/proc", "", false},
      {Kind::BindReadOnly, "/proc/sys", "/proc/sys", "", false},
      {Kind::Tmpfs, "tmpfs", "/tmp", "mode=1777", false},
      {Kind::BindHeld, "0", workspace, "dir", false},
      {Kind::MaskDirectory, "", "/not-there", "", true},
      {Kind::Tmpfs, "tmpfs", "/not-there", "", true},
  };
  plan.hygiene.apply = true;
  plan.forecast.confined = true;
  plan.forecast.by = "namespaces";
  plan.forecast.layers = {layer("namespaces"), layer("hygiene")};
  return plan;
}

sandbox::SessionPlan landlock_plan(const std::string& workspace) {
  sandbox::SessionPlan plan = bare_plan();
  plan.landlock.abi = 6;
  plan.landlock.handled_fs = kAllRights;
  plan.landlock.handled_net = 3;
  plan.landlock.scoped = 3;
  plan.landlock.rules = {{"/", kReadRights},
                         {"/dev/null", kReadRights | 2},
                         {workspace, kAllRights},
                         {"/not-there", kReadRights}};
  plan.child_scope_layer = true;
  plan.hygiene.apply = true;
  plan.forecast.confined = true;
  plan.forecast.by = "landlock";
  plan.forecast.layers = {layer("landlock"), layer("hygiene")};
  return plan;
}

std::shared_ptr<sandbox::Warden> start(const sandbox::SessionPlan& plan) {
  auto warden = sandbox::Warden::start(plan, {});
  EXPECT_TRUE(warden.has_value()) << (warden ? "" : warden.error().message());
  return warden ? *warden : nullptr;
}

sandbox::SpawnSpec spec(std::vector<std::string> argv) {
  sandbox::SpawnSpec result;
  result.argv = std::move(argv);
  result.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  result.cwd = "/";
  return result;
}

Ran run(sandbox::Warden& warden, std::vector<std::string> argv, const std::string& call) {
  sandbox::SpawnSpec order = spec(std::move(argv));
  order.call = call;
  return run(warden, std::move(order));
}

Ran run(sandbox::Warden& warden, sandbox::SpawnSpec order) {
  auto out = os::Pipe::make();
  auto err = os::Pipe::make();
  Ran ran;
  if (!out || !err) {
    ADD_FAILURE() << "no pipes";
    return ran;
  }
  order.standard_output = std::move(out->write);
  order.standard_error = std::move(err->write);
  auto child = warden.spawn(std::move(order));
  if (!child || !(*child)->go()) {
    ADD_FAILURE() << (child ? "no go" : child.error().message());
    return ran;
  }
  std::array<pollfd, 2> waiting{pollfd{out->read.get(), POLLIN, 0},
                                pollfd{err->read.get(), POLLIN, 0}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    (void)::poll(waiting.data(), waiting.size(), -1);
    for (std::size_t at = 0; at < waiting.size(); ++at) {
      std::array<char, 4096> buffer;
      const ssize_t count =
          waiting[at].revents == 0 ? -1 : ::read(waiting[at].fd, buffer.data(), buffer.size());
      if (count > 0) {
        (at == 0 ? ran.out : ran.err).append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0) {
        waiting[at].fd = -1;
      }
    }
  }
  const auto status = (*child)->wait(contract::Context());
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message());
  ran.status = status.value_or(sandbox::ExitStatus{});
  return ran;
}

}  // namespace bawn::test
