/// \file
/// Small readers of /proc: who a process is and whose child.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bawn::os {

/// When the process started, in clock ticks after boot (field 22 of /proc/PID/stat). Together with
/// the boot id it names a process for good.
///
/// Errors: NotFound (no such process).
/// Source: proc(5).
[[nodiscard]] contract::Result<std::uint64_t> start_time(int pid);

/// The parent's number (field 4 of /proc/PID/stat). Errors: NotFound.
[[nodiscard]] contract::Result<int> parent_pid(int pid);

/// The letter of its state (field 3). Errors: NotFound.
[[nodiscard]] contract::Result<char> process_state(int pid);

/// CPU time of the process itself in user and system mode, clock ticks (fields 14 and 15).
///
/// Errors: NotFound.
[[nodiscard]] contract::Result<std::uint64_t> cpu_ticks(int pid);

/// This boot's identity, a UUID. Errors: NotFound (/proc is not mounted).
[[nodiscard]] contract::Result<std::string> boot_id();

/// The numbers a process has, outermost PID namespace visible here first (line NSpid of its
/// status).
///
/// Errors: NotFound (no such process). Source: proc(5), Linux 4.1.
[[nodiscard]] contract::Result<std::vector<int>> namespace_pids(int pid);

/// The process's direct children; empty when it is gone.
///
/// Source: /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN, Linux 3.5). A child that starts or
/// ends meanwhile may be missing.
[[nodiscard]] std::vector<int> children(int pid);

/// All descendants, parents before their children.
[[nodiscard]] std::vector<int> descendants(int pid);

/// A whole small file of /proc. Errors: by errno.
[[nodiscard]] contract::Result<std::string> read_proc_file(const std::string& path);

}  // namespace bawn::os
