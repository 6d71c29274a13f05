#include "bawn/sandbox/plan.hpp"
#include "kernel_release.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace bawn::sandbox {
namespace {

/// Without a user namespace RLIMIT_NPROC counts every thread that the user has on the machine, so a
/// tight number would forbid the first fork on a busy desktop.
constexpr std::uint64_t kSharedProcesses = 4096;

constexpr std::uint64_t kLockedMemory = 64ULL << 20;

}  // namespace

HygienePlan plan_hygiene(const Policy& policy, const KernelFeatures& features,
                         bool with_user_namespace, bool processes_counted) {
  HygienePlan plan;
  if (!policy.enforce || policy.hygiene == LayerMode::Off) {
    plan.new_keyring = false;
    plan.drop_capabilities = false;
    return plan;
  }
  plan.apply = true;
  const auto limit = [&](int resource, std::uint64_t value) {
    plan.rlimits.push_back({resource, value, value});
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_MEMLOCK, kLockedMemory);
  const Limits& limits = policy.limits;
  if (limits.open_files) {
    limit(RLIMIT_NOFILE, *limits.open_files);
  }
  if (limits.file_size_bytes) {
    limit(RLIMIT_FSIZE, *limits.file_size_bytes);
  }
  if (limits.memory_bytes) {
    limit(RLIMIT_DATA, *limits.memory_bytes);
  }
  if (limits.processes) {
    limit(RLIMIT_NPROC,
          with_user_namespace ? *limits.processes : std::max(*limits.processes, kSharedProcesses));
    if (!with_user_namespace && !processes_counted) {
      plan.missing.emplace_back(
          "processes are counted with all others of the same user, and root's are not counted");
    }
  }
  if (limits.tmp_bytes && !with_user_namespace) {
    plan.missing.emplace_back("the size of the private temporary directory is not limited");
  }
  if (limits.processes && with_user_namespace && features.is_root && !processes_counted &&
      !kernel_at_least(features.kernel, 6, 14)) {
    plan.missing.emplace_back("the number of root's processes is not limited (needs Linux 6.14)");
  }
  return plan;
}

}  // namespace bawn::sandbox
