/// \file
/// Ending what a dead server left behind, by its records.
#pragma once

#include "server_file.hpp"

#include <string>
#include <vector>

namespace bawn::cli {

/// A process or container that a dead server's record names and that was still there.
struct LeftBehind {
  os::ProcessIdentity server;
  os::ProcessIdentity process;  ///< of a container none
  std::string what;             ///< "warden", "process" (the shell or a program), or "container"
  std::string session;          ///< of the record, or the container's name; may be empty
  bool ended = false;  ///< false when it could not be signalled, or when nothing was to be done
};

enum class Reap { End, OnlyLook };

/// Reads the record files of servers that are gone. A warden or a process that a record names and
/// that still runs is ended by SIGKILL, but only where boot, number and start time match: a reused
/// number is never hit. A container is removed where it has the recorded label. A file is removed
/// when all in it ended. With OnlyLook nothing is ended or
/// removed.
///
/// What cannot be read or ended is left to the next time; this never fails.
/// Blocking: file reads; where a record names a container its engine is asked. Threads: call it
/// before serving.
std::vector<LeftBehind> end_left_behind(const std::string& records_folder, Reap reap = Reap::End);

}  // namespace bawn::cli
