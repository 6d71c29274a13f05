/// \file
/// One process in a container that one exec of the engine started, with a shell before it that says
/// who it is and how it ended.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/os/event_fd.hpp"
#include "bawn/sandbox/warden.hpp"
#include "exec_route.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace bawn::container {

/// Threads: thread-safe but for join().
class ExecRun {
 public:
  /// Starts the engine's command and waits for the shell's first word. The descriptors of `spec`
  /// are taken; all that `mark` names carries it as BAWN_EXEC.
  ///
  /// Errors: NotFound (no such directory there), Closed (the engine's words follow),
  /// DeadlineExceeded. Blocking: as long as the engine takes, 20 s at most.
  static Result<std::shared_ptr<ExecRun>> begin(const ExecRoute& route, sandbox::SpawnSpec& spec,
                                                const std::string& mark);
  ~ExecRun();
  ExecRun(const ExecRun&) = delete;
  ExecRun& operator=(const ExecRun&) = delete;

  /// Of the shell before the command, which leads its session; in the container's numbers.
  [[nodiscard]] int pid() const noexcept { return pid_; }
  [[nodiscard]] std::uint64_t start_time() const noexcept { return start_time_; }
  /// The engine's exec made a session of its own for it.
  [[nodiscard]] bool leads() const noexcept { return leads_; }

  [[nodiscard]] Result<> go();
  [[nodiscard]] std::optional<sandbox::ExitStatus> status() const;
  /// Readable once the command has ended; its status is missing where it was not heard of.
  [[nodiscard]] int ended() const noexcept { return ended_.get(); }
  /// Kills the engine's command: nothing more is heard of the process.
  void give_up() noexcept;
  /// True when the thread that carries the streams has nothing more to do.
  [[nodiscard]] bool done() const noexcept { return done_; }
  void join();

 private:
  /// Out of a stream of the engine's into one of the call's, up to the shell's last word.
  struct Flow {
    os::UniqueFd from;
    os::UniqueFd to;
    std::string held;     ///< may be the beginning of the shell's word
    std::string pending;  ///< not yet taken by the reader
    bool told = false;
  };

  ExecRun(ExecClient client, std::string nonce, os::EventFd ended, os::EventFd wake);
  Result<> hear(const ExecRoute& route);
  void carry();
  void take(Flow& flow);
  static void give(Flow& flow);
  void feed();
  void finish();
  void see_off();

  ExecClient client_;
  const std::string word_;  ///< what the shell's words begin with
  Flow out_;
  Flow err_;
  os::UniqueFd source_;   ///< the command's input
  std::string to_shell_;  ///< not yet written
  bool has_input_ = false;
  std::string command_;  ///< the line that go() sends
  int pid_ = 0;
  std::uint64_t start_time_ = 0;
  bool leads_ = false;
  mutable std::mutex mutex_;
  std::optional<int> code_;
  os::EventFd ended_;
  os::EventFd wake_;
  std::atomic<bool> done_{true};
  std::thread thread_;
};

}  // namespace bawn::container
