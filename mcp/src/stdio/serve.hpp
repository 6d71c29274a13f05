/// \file
/// Serving one client of the framing of stdio, whoever may end it.
#pragma once

#include "bawn/mcp/stdio.hpp"
#include "stdio/ending_signals.hpp"
#include "stdio/streams.hpp"

namespace bawn::mcp {

/// serve_stdio() on streams that are open; `word` stands for its signals.
[[nodiscard]] contract::Result<StdioEnd> serve_streams(const Server& server,
                                                       const StdioOptions& options, Streams streams,
                                                       const EndingWord& word);

}  // namespace bawn::mcp
