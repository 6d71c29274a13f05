#include "warden.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

namespace bawn::sandbox::warden {

namespace {

/// The largest program that seccomp(2) takes (BPF_MAXINSNS).
constexpr std::uint32_t kMaxInstructions = 4096;
constexpr std::size_t kInstructionSize = 8;

void read_landlock(wire::Reader& in, PlanView::Landlock& landlock) noexcept {
  landlock.abi = in.u32();
  landlock.handled_fs = in.u64();
  landlock.handled_net = in.u64();
  landlock.scoped = in.u64();
  landlock.restrict_flags = in.u32();
  landlock.count = in.count(sizeof(std::uint64_t) + 8);
  landlock.rules = in;
  for (std::uint32_t at = 0; at < landlock.count && in.ok(); ++at) {
    (void)in.u64();
    (void)in.text();
  }
}

void read_mounts(wire::Reader& in, PlanView& plan) noexcept {
  plan.mount_count = in.count(2 * sizeof(std::uint32_t) + 24);
  plan.mounts = in;
  for (std::uint32_t at = 0; at < plan.mount_count && in.ok(); ++at) {
    (void)in.u32();
    (void)in.u32();
    (void)in.text();
    (void)in.text();
    (void)in.text();
  }
}

}  // namespace

bool read_plan(const unsigned char* data, std::size_t size, PlanView& plan) noexcept {
  wire::Reader in(data, size);
  if (in.u32() != wire::kPlanMagic || in.u32() != wire::kVersion) {
    return false;
  }
  plan.server_pid = in.i32();
  plan.flags = in.u32();
  plan.uid = in.u32();
  plan.gid = in.u32();
  plan.clone_flags = in.u64();
  plan.hostname = in.text();
  read_landlock(in, plan.landlock);
  plan.filter_length = in.count(kInstructionSize);
  plan.filter = in.bytes(plan.filter_length * kInstructionSize);
  plan.proxy_port = in.u32();
  plan.listener_length = in.count(kInstructionSize);
  plan.listener_program = in.bytes(plan.listener_length * kInstructionSize);
  plan.rlimit_count = in.count(sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t));
  plan.rlimits = in;
  for (std::uint32_t at = 0; at < plan.rlimit_count && in.ok(); ++at) {
    (void)in.u32();
    (void)in.u64();
    (void)in.u64();
  }
  read_mounts(in, plan);
  return in.finished() && plan.filter_length <= kMaxInstructions &&
         plan.listener_length <= kMaxInstructions && plan.proxy_port <= 0xffff;
}

bool map_plan(int fd, PlanView& plan) noexcept {
  struct stat status = {};
  if (fstat(fd, &status) != 0 || status.st_size <= 0 ||
      static_cast<std::size_t>(status.st_size) > wire::kMaxPlan) {
    return false;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  return mapped != MAP_FAILED && read_plan(static_cast<const unsigned char*>(mapped), size, plan);
}

}  // namespace bawn::sandbox::warden
