/// \file
/// From a tool's outcome to the result object of `tools/call`.
#pragma once

#include "bawn/contract/result.hpp"
#include "bawn/contract/tool.hpp"
#include "core.hpp"
#include "era.hpp"
#include "json_rpc.hpp"

#include <string>

namespace bawn::mcp {

/// The result object, with what `era` adds. An error becomes `isError` with its sentence; the
/// output beside it is not shown, structure and record are. May throw what the tool's details
/// throw.
[[nodiscard]] Json call_result(const Core& core, const contract::Tool& tool,
                               contract::Outcome outcome, const Era& era);

/// A result of ours instead of the tool's: `isError` with one text.
[[nodiscard]] Json error_result(const Core& core, std::string text, const Era& era);

}  // namespace bawn::mcp
