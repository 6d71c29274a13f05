/// \file
/// From a tool's outcome to the result object of `tools/call`.
#pragma once

#include "bawn/contract/result.hpp"
#include "bawn/contract/tool.hpp"
#include "core.hpp"
#include "era.hpp"
#include "json_rpc.hpp"

#include <string>
#include <string_view>

namespace bawn::mcp {

/// The result object's text, with what `era` adds. An error becomes `isError` with its sentence;
/// the output beside it is not shown, structure and record are. A structure that breaks the tool's
/// own output schema is not sent: the result then says that the call ran. May throw what the tool's
/// details throw.
[[nodiscard]] std::string call_result(const Core& core, const CatalogEntry& entry,
                                      const contract::Outcome& outcome, const Era& era);

/// A result of ours instead of the tool's: `isError` with one text.
[[nodiscard]] std::string error_result(const Core& core, std::string_view text, const Era& era);

}  // namespace bawn::mcp
