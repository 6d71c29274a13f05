/// \file
/// What the two makers of tools share.
#pragma once

#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/properties.hpp"

namespace bawn::contract::detail {

/// The properties that the options state; `strict`, the schemas' and the decoder's options are no
/// properties.
[[nodiscard]] Properties properties_of(ToolOptions options);

}  // namespace bawn::contract::detail
