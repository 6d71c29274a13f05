/// \file
/// What there is to attack: an outside tree, a workspace that is a repository, a home with secrets,
/// a process, listening sockets, IPC objects and a terminal; all of them this test's own.
#pragma once

#include "bawn/os/unique_fd.hpp"
#include "support/temp_dir.hpp"

#include <string>

namespace bawn::test {

class Arena {
 public:
  /// Everything belongs to `uid`.
  explicit Arena(unsigned uid);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  [[nodiscard]] std::string workspace() const { return (root_.path() / "ws").string(); }
  [[nodiscard]] std::string home() const { return (root_.path() / "home").string(); }
  [[nodiscard]] std::string outside() const { return (root_.path() / "out").string(); }
  /// Part of the names of what attacks make in places that are everybody's.
  [[nodiscard]] std::string token() const { return "bawn-escape-" + std::to_string(port_); }
  /// Python that sets the names which the attacks use, with prelude.py behind it.
  [[nodiscard]] std::string prelude() const;
  /// Everything outside the workspace, with contents and attributes, as text.
  [[nodiscard]] std::string state() const;

  // Evidence from the host's side that an attack worked; each looks once.

  /// A datagram came to the UDP socket.
  [[nodiscard]] bool was_sent_to() const;
  /// The process got SIGUSR1. Blocking: until it has answered a signal of ours.
  [[nodiscard]] bool was_signalled() const;
  /// There is something at `path`; removes it.
  static bool take(const std::string& path);

 private:
  void start_process(unsigned uid);
  void make_ipc(unsigned uid);

  TempDir root_;
  int process_ = -1;
  os::UniqueFd process_output_;
  std::string address_;
  os::UniqueFd tcp_, tcp6_, udp_, unix_path_, unix_abstract_, unix_datagram_;
  os::UniqueFd terminal_, terminal_end_;
  std::string terminal_name_;
  int shm_ = -1;
  int queue_ = -1;
  int port_ = 0, port6_ = 0, udp_port_ = 0;
};

}  // namespace bawn::test
