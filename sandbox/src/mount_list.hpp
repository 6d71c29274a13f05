/// \file
/// Builds the ordered list of mount steps.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::sandbox {

class MountList {
 public:
  void add(MountStep::Kind kind, std::string source, std::string target, std::string data = {}) {
    steps_.push_back({kind, std::move(source), std::move(target), std::move(data), false});
  }
  /// A step whose failure is reported and not fatal.
  void optional(MountStep::Kind kind, std::string source, std::string target) {
    steps_.push_back({kind, std::move(source), std::move(target), {}, true});
  }
  /// A knob of the new namespaces; older kernels may not have it.
  void write(std::string target, std::string data) {
    steps_.push_back({MountStep::Kind::WriteFile, {}, std::move(target), std::move(data), true});
  }
  [[nodiscard]] std::vector<MountStep> take() { return std::move(steps_); }

 private:
  std::vector<MountStep> steps_;
};

}  // namespace bawn::sandbox
