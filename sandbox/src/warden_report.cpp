#include "warden_launch.hpp"
#include "wire_encode.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

namespace bawn::sandbox {

namespace {

wire::Reader reader_of(const Frame& frame) {
  return {reinterpret_cast<const unsigned char*>(frame.payload.data()), frame.payload.size()};
}

std::uint32_t bit_of(std::string_view layer) {
  static constexpr std::pair<std::string_view, std::uint32_t> kBits[] = {
      {"namespaces", wire::kLayerNamespaces}, {"hygiene", wire::kLayerHygiene},
      {"landlock", wire::kLayerLandlock},     {"seccomp", wire::kLayerSeccomp},
      {"cgroup", wire::kLayerCgroup},
  };
  for (const auto& [name, bit] : kBits) {
    if (name == layer) {
      return bit;
    }
  }
  return 0;
}

std::string_view layer_of(wire::Step step) {
  switch (step) {
    case wire::Step::Mount:
    case wire::Step::Loopback:
    case wire::Step::Hostname:
      return "namespaces";
    case wire::Step::LandlockRule:
      return "landlock";
    default:
      return "hygiene";
  }
}

/// What a step was about, in words; the plan knows what the number in a frame means.
std::string what_failed(const SessionPlan& plan, wire::Step step, std::uint32_t index) {
  const auto& mounts = plan.namespaces.mounts;
  if (step == wire::Step::Mount && index < mounts.size()) {
    return fmt::format("{} ({})", wire::to_text(step), wire::describe(mounts[index]));
  }
  if (step == wire::Step::LandlockRule && index < plan.landlock.rules.size()) {
    return fmt::format("{} for {}", wire::to_text(step), plan.landlock.rules[index].path);
  }
  return std::string(wire::to_text(step));
}

contract::Layer* find_layer(contract::Confinement& report, std::string_view name) {
  for (contract::Layer& layer : report.layers) {
    if (layer.name == name) {
      return &layer;
    }
  }
  return nullptr;
}

void add_missing(const SessionPlan& plan, wire::Reader& in, contract::Confinement& report) {
  const std::uint32_t count = in.count(3 * sizeof(std::uint32_t));
  for (std::uint32_t at = 0; at < count; ++at) {
    const auto step = static_cast<wire::Step>(in.u32());
    const int errnum = in.i32();
    const std::uint32_t index = in.u32();
    if (contract::Layer* layer = find_layer(report, layer_of(step))) {
      layer->missing.push_back(
          fmt::format("{} failed: {}", what_failed(plan, step, index), std::strerror(errnum)));
    }
  }
}

}  // namespace

Result<contract::Confinement> confirm(const SessionPlan& plan, const Frame& ready) {
  wire::Reader in = reader_of(ready);
  const std::uint32_t version = in.u32();
  (void)in.i32();
  (void)in.u64();
  const std::uint32_t layers = in.u32();
  const std::uint32_t skipped = in.u32();
  const std::uint32_t more_missing = in.u32();
  contract::Confinement report = plan.forecast;
  for (contract::Layer& layer : report.layers) {
    const std::uint32_t bit = bit_of(layer.name);
    if (layer.applied && bit != 0 && (layers & bit) == 0) {
      return contract::fail(ErrorCode::Unsupported,
                            fmt::format("the warden did not confirm the layer {}", layer.name));
    }
    if (layer.name == "landlock" && layer.applied) {
      layer.abi = plan.landlock.abi;
    }
  }
  if (plan.child_scope_layer && (layers & wire::kLayerChildScope) == 0) {
    return contract::fail(ErrorCode::Unsupported,
                          "the kernel has no Landlock scopes for the layer around each child");
  }
  add_missing(plan, in, report);
  if (skipped > 0) {
    report.notes.push_back(fmt::format(
        "{} Landlock rule(s) name a path that is not there; what appears there later is refused",
        skipped));
  }
  if (more_missing > 0) {
    report.notes.push_back(
        fmt::format("{} more step(s) of the wall failed than the layers name", more_missing));
  }
  if (!in.finished() || version != wire::kVersion) {
    return contract::fail(ErrorCode::Internal,
                          "the bawn-warden program is of another version than bawn");
  }
  report.confirmed = true;
  return report;
}

Error setup_error(const SessionPlan& plan, const Frame& frame) {
  wire::Reader in = reader_of(frame);
  const auto step = static_cast<wire::Step>(in.u32());
  const int errnum = in.i32();
  return setup_error(plan, step, errnum, in.u32());
}

Error setup_error(const SessionPlan& plan, wire::Step step, int errnum, std::uint32_t index) {
  // landlock_restrict_self(2): each process can be in 16 domains, its ancestors' included.
  if (step == wire::Step::LandlockRestrict && errnum == E2BIG) {
    return {ErrorCode::Unsupported,
            "the session's wall cannot be built here: bawn runs inside 16 Landlock layers already, "
            "which is as many as the kernel allows; start it outside some of them, or switch the "
            "layer off with \"landlock\": \"off\""};
  }
  const std::string sentence = fmt::format("the session's wall cannot be built here: {} failed",
                                           what_failed(plan, step, index));
  const Error cause = Error::from_errno(errnum, wire::to_text(step), sentence);
  const bool scarce = cause.code() == ErrorCode::ResourceExhausted;
  return Error(scarce ? ErrorCode::ResourceExhausted : ErrorCode::Unsupported, cause.message())
      .with_cause(cause);
}

}  // namespace bawn::sandbox
