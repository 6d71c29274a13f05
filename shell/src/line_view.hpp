/// \file
/// Views of a stream other than its head and tail: chosen lines, and raw bytes.
#pragma once

#include "stream_view.hpp"

namespace bawn::shell {

/// Lines that the filter takes, each with its number, as many as fit; `next` is where to go on.
void show_lines(const OutputBuffer& buffer, const ViewOptions& options, StreamView& view);

/// Base64 of the bytes from `from` on, as many as fit.
void show_raw(const OutputBuffer& buffer, const ViewOptions& options, StreamView& view);

}  // namespace bawn::shell
