/// \file
/// A session's directory on this machine.
#pragma once

#include "session_files.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace bawn::shell {

/// Writes all of it to a file.
[[nodiscard]] Result<> write_all(int fd, std::string_view bytes);

/// Threads: thread-safe after open().
class SessionDir final : public SessionFiles {
 public:
  /// Takes a directory made by `Session::prepare_directory`.
  ///
  /// Errors: NotFound, PermissionDenied.
  static Result<SessionDir> open(std::string path);

  [[nodiscard]] const std::string& read_side() const noexcept override { return read_path_; }
  [[nodiscard]] const std::string& write_side() const noexcept override { return write_path_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& spool() const noexcept override { return path_; }

  [[nodiscard]] Result<> write_text(const std::string& name, std::string_view first,
                                    std::string_view second = {}) const override;
  [[nodiscard]] Result<OutputFifo> make_output(const std::string& name) const override;
  [[nodiscard]] Result<InputFifo> make_input(const std::string& name) const override;
  [[nodiscard]] Result<os::UniqueFd> make_report(const std::string& name) const override;
  [[nodiscard]] Result<StateFile> make_state_file(const std::string& name) const override;
  [[nodiscard]] bool makes_ahead() const noexcept override { return true; }
  [[nodiscard]] Result<os::UniqueFd> make_text(const std::string& name) const override;
  [[nodiscard]] bool renew_output(const std::string& old_name, const std::string& name,
                                  OutputFifo& fifo) const override;
  void remove_text(const std::string& name) const noexcept override;
  void remove_output(const std::string& name) const noexcept override;
  void remove() const noexcept override;

 private:
  [[nodiscard]] Result<> make_fifo(const os::UniqueFd& side, const std::string& name,
                                   mode_t mode) const;
  [[nodiscard]] static Result<os::UniqueFd> open_fifo(const os::UniqueFd& side,
                                                      const std::string& name, int flags);
  [[nodiscard]] mode_t output_mode() const noexcept;

  std::string path_;
  std::string read_path_;
  std::string write_path_;
  os::UniqueFd lock_;     // held while the session lives: tells its directory from an abandoned one
  os::UniqueFd read_fd_;  // O_PATH descriptors: every name below is resolved from them
  os::UniqueFd write_fd_;
  bool foreign_ = false;  // commands run as another user, who reaches us through the group
};

}  // namespace bawn::shell
