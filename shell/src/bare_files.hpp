/// \file
/// A session's directory in a place where files are written by somebody else's means.
#pragma once

#include "bawn/shell/session.hpp"
#include "session_dir.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace bawn::shell {

/// Threads: thread-safe.
class BareFiles final : public SessionFiles {
 public:
  /// `state_dir` is here, for output that memory has no room for.
  ///
  /// Errors: those of the state directory.
  static Result<std::unique_ptr<const BareFiles>> open(const std::string& state_dir,
                                                       const Session::BarePlace& place);

  [[nodiscard]] const std::string& read_side() const noexcept override { return read_side_; }
  [[nodiscard]] const std::string& write_side() const noexcept override { return write_side_; }
  [[nodiscard]] const std::string& spool() const noexcept override { return local_.path(); }
  [[nodiscard]] Result<> write_text(const std::string& name, std::string_view first,
                                    std::string_view second = {}) const override;
  /// Unsupported, as make_input(): only a shell that runs on needs FIFOs.
  [[nodiscard]] Result<OutputFifo> make_output(const std::string& name) const override;
  [[nodiscard]] Result<InputFifo> make_input(const std::string& name) const override;
  /// One that nobody writes to: there is no shell that reports.
  [[nodiscard]] Result<os::UniqueFd> make_report(const std::string& name) const override;
  [[nodiscard]] Result<StateFile> make_state_file(const std::string& name) const override;
  void remove_text(const std::string& name) const noexcept override;
  void remove_output(const std::string& name) const noexcept override;
  /// What is there goes with the place's own end of the session.
  void remove() const noexcept override { local_.remove(); }

 private:
  BareFiles(SessionDir local, const Session::BarePlace& place);

  SessionDir local_;
  std::shared_ptr<PlaceFiles> place_;
  std::string read_side_;
  std::string write_side_;
};

}  // namespace bawn::shell
