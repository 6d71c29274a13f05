#include "cgroup_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace bawn::sandbox {
namespace {

/// The warden and its file agents count as well.
constexpr std::uint64_t kOwnProcesses = 8;
/// The kernel's default, microseconds.
constexpr std::uint64_t kPeriod = 100'000;

struct Wish {
  const char* controller;
  std::vector<CgroupPlan::Setting> settings;
  const char* missing;  ///< said where the controller cannot be had
};

std::vector<Wish> wishes_of(const Limits& limits) {
  std::vector<Wish> wishes;
  if (limits.session_memory_bytes) {
    wishes.push_back(
        {"memory",
         {{"memory.max", std::to_string(*limits.session_memory_bytes)}, {kSwapLimit, "0"}},
         "the memory of the whole session is not limited"});
  }
  if (limits.processes) {
    wishes.push_back({"pids",
                      {{"pids.max", std::to_string(*limits.processes + kOwnProcesses)}},
                      "processes are not counted by it"});
  }
  if (limits.cpu_percent) {
    wishes.push_back(
        {"cpu",
         {{"cpu.max", fmt::format("{} {}", *limits.cpu_percent * kPeriod / 100, kPeriod)}},
         "the session's CPU time is not limited"});
  }
  return wishes;
}

}  // namespace

bool holds_setting(const CgroupPlan& plan, std::string_view file) {
  return plan.apply && std::ranges::any_of(plan.settings, [&](const CgroupPlan::Setting& setting) {
           return setting.file == file;
         });
}

CgroupPlan plan_cgroup(const Policy& policy, const KernelFeatures& features,
                       bool with_pid_namespace) {
  CgroupPlan plan;
  if (!policy.enforce || policy.cgroup == LayerMode::Off) {
    return plan;
  }
  if (!features.cgroup_v2.available) {
    plan.reason = features.cgroup_v2.reason;
    return plan;
  }
  plan.parent = features.cgroup;
  for (Wish& wish : wishes_of(policy.limits)) {
    if (std::ranges::find(features.cgroup_controllers, wish.controller) !=
        features.cgroup_controllers.end()) {
      plan.controllers.emplace_back(wish.controller);
      std::ranges::move(wish.settings, std::back_inserter(plan.settings));
    } else {
      plan.missing.push_back(fmt::format("{}: {}", wish.missing, features.cgroup_reason));
    }
  }
  plan.apply = !plan.settings.empty() || !with_pid_namespace;
  if (!plan.apply) {
    plan.missing.clear();
    plan.reason = fmt::format("it would hold nothing here: {}",
                              features.cgroup_reason.empty() ? "the policy sets no limit for it"
                                                             : features.cgroup_reason);
  }
  return plan;
}

}  // namespace bawn::sandbox
