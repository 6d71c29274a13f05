/// \file
/// A session's own cgroup: made before its warden, which is born in it.
#pragma once

#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/plan.hpp"

#include <memory>
#include <string>

namespace bawn::sandbox {

/// Its end is the end of every process in it.
///
/// Threads: not thread-safe, but for const calls.
class CgroupLeaf {
 public:
  /// Makes it, with the plan's limits in force. The first of a process also ends and removes what
  /// dead servers left in the same place, and moves this process into a cgroup of its own where the
  /// plan's controllers demand that.
  ///
  /// Errors: Unsupported, naming the file that could not be written or that says something else
  /// than was written.
  static Result<std::shared_ptr<CgroupLeaf>> make(const CgroupPlan& plan);
  explicit CgroupLeaf(std::string path) : path_(std::move(path)) {}
  CgroupLeaf(const CgroupLeaf&) = delete;
  CgroupLeaf& operator=(const CgroupLeaf&) = delete;
  /// Ends what is in it and removes it. Blocking: until that is gone, at most 1 s.
  ~CgroupLeaf();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// For clone3(2) with CLONE_INTO_CGROUP (Linux 5.7).
  [[nodiscard]] int descriptor() const noexcept { return directory_.get(); }
  /// SIGKILL for every process in it and in cgroups below (cgroup.kill, Linux 5.14).
  void kill() const noexcept;
  /// True when that process is in it, as the kernel says.
  [[nodiscard]] bool holds(int pid) const;

 private:
  std::string path_;
  os::UniqueFd directory_;
};

/// Ends and removes what servers that are gone left below `parent`. Returns how many.
int sweep_cgroups(const std::string& parent);

}  // namespace bawn::sandbox
