#include "exec_place.hpp"

#include "exec_warden.hpp"
#include "place_directory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bawn::container {
namespace {

/// Longer texts go through the shell's `read` byte by byte.
constexpr std::size_t kLongestText = 1024 * 1024;

/// With one of these a process can reach out of its container.
constexpr std::array<std::string_view, 8> kReachOut = {"all",        "sys_admin", "sys_ptrace",
                                                       "sys_module", "sys_rawio", "dac_read_search",
                                                       "mac_admin",  "bpf"};

contract::Layer absent(const char* name, const std::string& why) {
  contract::Layer layer;
  layer.name = name;
  layer.reason = why;
  return layer;
}

bool holds_files(const PlaceFacts& facts) {
  return std::ranges::none_of(facts.capabilities, [](const std::string& name) {
    return std::ranges::find(kReachOut, name) != kReachOut.end();
  });
}

}  // namespace

contract::Confinement exec_report(const PlaceFacts& facts, const sandbox::Inside& inside, bool ours,
                                  const std::string& why) {
  contract::Confinement report;
  report.confined = true;
  report.by = "container:" + inside.container;
  report.confirmed = true;
  const sandbox::Policy policy = sandbox::inside_policy(inside);
  report.policy = policy.name;
  report.policy_id = sandbox::policy_id(policy);
  report.user = fmt::format("{0}({0})", inside.uid);
  contract::Layer container;
  container.name = "container";
  container.applied = true;
  container.missing = inside.missing;
  report.layers.push_back(std::move(container));
  for (const char* const name : {"landlock", "seccomp"}) {
    report.layers.push_back(absent(name, why));
  }
  report.layers.push_back(absent("namespaces", "the container has its own"));
  report.layers.back().requested = false;
  report.layers.push_back(absent("hygiene", why));
  if (holds_files(facts)) {
    report.guarantees = {"fs-write", "secrets"};
  }
  if (ours) {
    // Nobody else is in there, and all that is ends with it.
    report.guarantees.insert(report.guarantees.end(), {"signals", "lifetime"});
  }
  if (!inside.network) {
    report.guarantees.emplace_back("network");
  }
  report.network = contract::NetworkReach{.mode = std::string(to_string(policy.network))};
  report.notes = {
      "each call is one exec of the engine, held by the container alone: commands have the "
      "capabilities and system calls that it has, and can reach everything in it that their user "
      "can",
      "a process that leaves its call's session, clears its environment and outlives its parent is "
      "not found again, and then nothing ends it but the container's end",
      "what processes in the background print after their call's end is lost",
      "the text of a call runs in a new sh each time, which keeps less than bash; there are no "
      "terminals, no read-only calls and no file tools"};
  return report;
}

Result<> check_guarantees(const contract::Confinement& report, const PlaceBounds& bounds,
                          const std::string& why) {
  std::vector<std::string> lacking;
  for (const sandbox::Guarantee guarantee : bounds.require) {
    const std::string name(to_string(guarantee));
    if (std::ranges::find(report.guarantees, name) == report.guarantees.end()) {
      lacking.push_back(name);
    }
  }
  if (lacking.empty()) {
    return {};
  }
  return contract::fail(
      ErrorCode::Unsupported,
      fmt::format("{}. Each call could be an exec of the engine instead, held by the container "
                  "alone, but this server's policy requires what only the warden gives: {}; start "
                  "the server with a policy that does not, or with --best-effort",
                  why, fmt::join(lacking, ", ")));
}

Result<std::shared_ptr<shell::Session>> start_exec_session(shell::SessionConfig config,
                                                           const ExecRoute& route,
                                                           contract::Confinement report,
                                                           const std::string& name,
                                                           std::vector<std::string> environment) {
  const std::string mark = random_word(22) + ".";
  auto control = BAWN_TRY(ExecControl::start(contract::Context(), route, mark));
  if (control->directory().empty()) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("nothing can be written in {}: none of /tmp, /var/tmp, "
                                      "/dev/shm and /run; calls need a place for their text",
                                      route.container));
  }
  shell::Session::BarePlace place{.warden = {},
                                  .files = control,
                                  .directory = control->directory(),
                                  .uid = control->uid(),
                                  .gid = control->gid(),
                                  .name = name};
  config.limits.text_bytes = std::min(config.limits.text_bytes, kLongestText);
  place.warden = std::make_shared<ExecWarden>(route, mark, std::move(control), std::move(report));
  return shell::Session::start_bare(std::move(config), std::move(place), std::move(environment));
}

}  // namespace bawn::container
