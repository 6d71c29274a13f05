/// \file
/// The server's side of wire.hpp: plans and requests as bytes.
#pragma once

#include "bawn/sandbox/plan.hpp"
#include "wire.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox::wire {

/// Appends values in the form that Reader reads.
class Writer {
 public:
  Writer& u32(std::uint32_t value);
  Writer& u64(std::uint64_t value);
  Writer& text(std::string_view value);
  Writer& bytes(const void* data, std::size_t size);
  [[nodiscard]] const std::string& data() const noexcept { return data_; }

 private:
  std::string data_;
};

/// The plan as the warden reads it. `server_pid` is whose death ends the stub; `extra_flags` are
/// PlanFlag bits that do not come from the plan.
///
/// Errors: InvalidArgument (a text holds a NUL, or the plan is larger than kMaxPlan).
[[nodiscard]] Result<std::string> encode_plan(const SessionPlan& plan, int server_pid,
                                              std::uint32_t extra_flags);

/// What a step is called in a sentence: "mounting", "setting the user id", …
[[nodiscard]] std::string_view to_text(Step step) noexcept;
/// A mount step in words: "read-only bind of /usr on /usr".
[[nodiscard]] std::string describe(const MountStep& step);

}  // namespace bawn::sandbox::wire
