/// \file
/// A server as a client sees it: a child with three pipes.
#pragma once

#include "bawn/contract/json.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {

class ServerProcess {
 public:
  /// Starts `argv`, whose first word is a path.
  explicit ServerProcess(std::vector<std::string> argv);
  /// Kills what still runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void write(std::string_view bytes) const;
  void send(std::string_view line) const { write(std::string(line) + "\n"); }
  /// The next line of its output; none at the end or after `wait`.
  std::optional<std::string> receive(
      std::chrono::milliseconds wait = std::chrono::milliseconds(60'000));
  /// The next line as JSON; null and a failed test when it is none.
  contract::Json receive_json();
  /// The answer to `request`, skipping other messages.
  contract::Json call(std::string_view request);
  void close_input();
  void close_output();
  void signal(int number) const;
  /// True when nothing more can come: every holder of the output is gone.
  [[nodiscard]] bool output_ends_within(std::chrono::milliseconds wait);
  /// The exit status as of waitpid(2); none when it still runs after `wait`.
  std::optional<int> wait(std::chrono::milliseconds wait);
  /// What it wrote to its standard error so far.
  std::string errors();

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace bawn::test
