/// \file
/// Ending what a dead server left behind, by its records.
#pragma once

#include <string>

namespace bawn::cli {

/// Reads the record files of servers that are gone and removes them. A warden or a process that a
/// record names and that still runs is ended by SIGKILL, but only where boot, number and start time
/// match: a reused number is never hit.
///
/// What cannot be read or ended is left to the next start; a start never fails by it.
/// Blocking: file reads. Threads: call it before serving.
void end_left_behind(const std::string& records_folder);

}  // namespace bawn::cli
