/// \file
/// The directory by which server and shell exchange texts and reports. It is two: `r/` (command
/// texts, input: the inside may only read) and `w/` (output, reports, state: the inside may only
/// write). The wall grants no more than that, and neither can be listed from inside. Where it is,
/// here or behind a relay, only its two kinds know.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace bawn::shell {

using contract::Error;
using contract::ErrorCode;
using contract::Result;

/// An output FIFO: `read` is ours; `keep` is a write end of ours, so that no end of file is seen
/// while writers come and go during a call. Over a relay there is none: there the end comes with
/// the last writer, and not before the first.
struct OutputFifo {
  os::UniqueFd read;
  os::UniqueFd keep;
};

/// An input FIFO: `read` is a reading end of ours, so that nothing breaks while nobody reads; over
/// a relay the relay holds it.
struct InputFifo {
  os::UniqueFd read;
  os::UniqueFd write;  ///< does not block
};

/// A file in w/ that the inside appends to.
class StateFile {
 public:
  using Reader = std::function<std::string(std::size_t limit)>;

  StateFile() = default;
  explicit StateFile(Reader reader) : reader_(std::move(reader)) {}
  [[nodiscard]] bool is_open() const noexcept { return reader_ != nullptr; }
  /// All that it holds; empty when that is more than `limit` bytes or cannot be read.
  [[nodiscard]] std::string read(std::size_t limit) const {
    return is_open() ? reader_(limit) : std::string();
  }

 private:
  Reader reader_;
};

/// Threads: thread-safe.
class SessionFiles {
 public:
  virtual ~SessionFiles() = default;

  /// Both end with '/'; as the inside names them.
  [[nodiscard]] virtual const std::string& read_side() const noexcept = 0;
  [[nodiscard]] virtual const std::string& write_side() const noexcept = 0;
  /// A directory here, for output that memory has no room for.
  [[nodiscard]] virtual const std::string& spool() const noexcept = 0;

  /// A new file in r/ that the inside can read.
  [[nodiscard]] virtual Result<> write_text(const std::string& name, std::string_view first,
                                            std::string_view second = {}) const = 0;
  /// A new FIFO in w/ that the inside can write. Its name is gone once `remove_output` is called.
  [[nodiscard]] virtual Result<OutputFifo> make_output(const std::string& name) const = 0;
  /// A new FIFO in r/ that the inside can read. Its name is gone once `remove_text` is called.
  [[nodiscard]] virtual Result<InputFifo> make_input(const std::string& name) const = 0;
  /// A FIFO in w/ that never ends, and whose contents come after what was printed before them.
  [[nodiscard]] virtual Result<os::UniqueFd> make_report(const std::string& name) const = 0;
  /// An empty file in w/ that the inside can append to.
  [[nodiscard]] virtual Result<StateFile> make_state_file(const std::string& name) const = 0;

  /// Whether files can be made before their contents are known, which the next two do: not over a
  /// relay.
  [[nodiscard]] virtual bool makes_ahead() const noexcept { return false; }
  /// A new, empty file in r/ that the inside can read, to be written.
  [[nodiscard]] virtual Result<os::UniqueFd> make_text(const std::string& name) const {
    return contract::fail(ErrorCode::Unsupported, "cannot make the text " + name + " ahead");
  }
  /// Has a FIFO of `make_output` serve once more, under another name, with `keep` open again. False
  /// when it cannot: somebody has it open for writing, or it is not what lies under its name.
  [[nodiscard]] virtual bool renew_output(const std::string& /*old_name*/,
                                          const std::string& /*name*/, OutputFifo& /*fifo*/) const {
    return false;
  }

  virtual void remove_text(const std::string& name) const noexcept = 0;
  virtual void remove_output(const std::string& name) const noexcept = 0;
  /// Removes everything in it and the directory itself.
  virtual void remove() const noexcept = 0;
};

}  // namespace bawn::shell
