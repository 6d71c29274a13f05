/// \file
/// A server as a client sees it: a child with three pipes.
#pragma once

#include "line_client.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace bawn::test {

class ServerProcess final : public LineClient {
 public:
  /// Starts `argv`, whose first word is a path.
  explicit ServerProcess(std::vector<std::string> argv);
  /// Kills what still runs.
  ~ServerProcess() override;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// The exit status as of waitpid(2); none when it still runs after `kPatience`.
  std::optional<int> wait();
  /// Its standard error, non-blocking.
  [[nodiscard]] int error_fd() const { return err_; }
  /// What it wrote there so far.
  std::string errors();
  /// VmHWM of proc(5): the most memory that it ever had, in KiB; 0 when it has ended.
  [[nodiscard]] long peak_kib() const;

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int err_ = -1;
  std::optional<int> status_;
};

}  // namespace bawn::test
