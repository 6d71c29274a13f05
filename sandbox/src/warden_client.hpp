/// \file
/// From a warden that stands to the object that speaks for it.
#pragma once

#include "warden_launch.hpp"

#include <memory>

namespace bawn::sandbox {

/// Begins to read the warden's stream. Errors: ResourceExhausted; the warden is then ended.
[[nodiscard]] Result<std::shared_ptr<Warden>> serve_with(Launched launched, const FilePlan& files);

}  // namespace bawn::sandbox
