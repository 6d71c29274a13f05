/// \file
/// What the warden reads as its plan: a plan that is taken lies inside its bytes to the last rule,
/// and one that our own encoder wrote is always taken.
#include "require.hpp"
#include "warden.hpp"

#include <cstdint>
#include <cstring>
#include <memory>

using namespace bawn::sandbox;
using bawn::fuzz::require;

namespace {

/// Texts end where they say, within the bytes.
void touch(const char* text, const unsigned char* begin, const unsigned char* end) {
  const auto* const at = reinterpret_cast<const unsigned char*>(text);
  require(*text == '\0' || (at >= begin && at + std::strlen(text) < end), "a text out of bounds");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Behind a right beginning, so that inputs outlive a new version; and copied to its exact size,
  // so that the sanitizer sees every byte read beyond it.
  constexpr std::uint32_t kBegin[] = {wire::kPlanMagic, wire::kVersion};
  const auto copy = std::make_unique<unsigned char[]>(sizeof kBegin + size);
  std::memcpy(copy.get(), kBegin, sizeof kBegin);
  if (size != 0) {
    std::memcpy(copy.get() + sizeof kBegin, data, size);
  }
  const unsigned char* const end = copy.get() + sizeof kBegin + size;
  warden::PlanView plan;
  if (!warden::read_plan(copy.get(), sizeof kBegin + size, plan)) {
    return 0;
  }
  touch(plan.hostname, copy.get(), end);
  wire::Reader rules = plan.landlock.rules;
  for (std::uint32_t at = 0; at < plan.landlock.count; ++at) {
    (void)rules.u64();
    touch(rules.text(), copy.get(), end);
  }
  wire::Reader mounts = plan.mounts;
  for (std::uint32_t at = 0; at < plan.mount_count; ++at) {
    (void)mounts.u64();
    for (int text = 0; text < 3; ++text) {
      touch(mounts.text(), copy.get(), end);
    }
  }
  require(rules.ok() && mounts.ok(), "a plan that was taken cannot be read");
  for (const auto& [program, length] : {std::pair{plan.filter, plan.filter_length},
                                        std::pair{plan.listener_program, plan.listener_length}}) {
    require(length == 0 || (program >= copy.get() && program + std::size_t{length} * 8 <= end),
            "a program out of bounds");
  }
  return 0;
}
