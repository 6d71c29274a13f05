/// \file
/// The directory by which server and shell exchange texts and reports. It is two: `r/` (command
/// texts, input: the inside may only read) and `w/` (output, reports, state: the inside may only
/// write). The wall grants no more than that, and neither can be listed from inside.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace bawn::shell {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

/// An output FIFO: `read` is ours; `keep` is a write end of ours, so that no end of file is seen
/// while writers come and go during a call.
struct OutputFifo {
  os::UniqueFd read;
  os::UniqueFd keep;
};

/// An input FIFO: `read` is a reading end of ours, so that nothing breaks while nobody reads.
struct InputFifo {
  os::UniqueFd read;
  os::UniqueFd write;  ///< does not block
};

/// Threads: thread-safe after open().
class SessionDir {
 public:
  /// Takes a directory made by `Session::prepare_directory`.
  ///
  /// Errors: NotFound, PermissionDenied.
  static Result<SessionDir> open(std::string path);

  /// Ends with '/'.
  [[nodiscard]] const std::string& read_side() const noexcept { return read_path_; }
  [[nodiscard]] const std::string& write_side() const noexcept { return write_path_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// A new file in r/ that the inside can read.
  [[nodiscard]] Result<> write_text(const std::string& name, std::string_view first,
                                    std::string_view second = {}) const;
  /// A new FIFO in w/ that the inside can write. Its name is gone once `remove_output` is called.
  [[nodiscard]] Result<OutputFifo> make_output(const std::string& name) const;
  /// A new FIFO in r/ that the inside can read. Its name is gone once `remove_text` is called.
  [[nodiscard]] Result<InputFifo> make_input(const std::string& name) const;
  /// A FIFO in w/ held open for reading and writing, so that it never ends.
  [[nodiscard]] Result<os::UniqueFd> make_report(const std::string& name) const;
  /// An empty file in w/ that the inside can append to; the descriptor reads it.
  [[nodiscard]] Result<os::UniqueFd> make_state_file(const std::string& name) const;

  void remove_text(const std::string& name) const noexcept;
  void remove_output(const std::string& name) const noexcept;
  /// Removes everything in it and the directory itself.
  void remove() const noexcept;

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
