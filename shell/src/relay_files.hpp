/// \file
/// A session's directory at the place of a relay.
#pragma once

#include "bawn/shell/session.hpp"
#include "session_dir.hpp"

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace bawn::shell {

/// Threads: thread-safe.
class RelayFiles final : public SessionFiles {
 public:
  /// `state_dir` is here, for output that memory has no room for.
  ///
  /// Errors: InvalidArgument (no warden of a relay), those of the state directory.
  static Result<std::unique_ptr<const RelayFiles>> open(const std::string& state_dir,
                                                        const Session::RemotePlace& place);

  [[nodiscard]] const std::string& read_side() const noexcept override { return read_side_; }
  [[nodiscard]] const std::string& write_side() const noexcept override { return write_side_; }
  [[nodiscard]] const std::string& spool() const noexcept override { return local_.path(); }
  [[nodiscard]] Result<> write_text(const std::string& name, std::string_view first,
                                    std::string_view second = {}) const override;
  [[nodiscard]] Result<OutputFifo> make_output(const std::string& name) const override;
  [[nodiscard]] Result<InputFifo> make_input(const std::string& name) const override;
  [[nodiscard]] Result<os::UniqueFd> make_report(const std::string& name) const override;
  [[nodiscard]] Result<StateFile> make_state_file(const std::string& name) const override;
  void remove_text(const std::string& name) const noexcept override;
  void remove_output(const std::string& name) const noexcept override;
  void remove() const noexcept override;

 private:
  RelayFiles(SessionDir local, const Session::RemotePlace& place,
             std::shared_ptr<sandbox::Relay> relay);
  [[nodiscard]] mode_t text_mode() const noexcept { return foreign_ ? 0640 : 0600; }
  [[nodiscard]] mode_t output_mode() const noexcept { return foreign_ ? 0620 : 0600; }

  SessionDir local_;
  std::shared_ptr<sandbox::Warden> warden_;
  std::shared_ptr<sandbox::Relay> relay_;
  std::string directory_;
  std::string read_side_;
  std::string write_side_;
  bool foreign_;  ///< commands run as another user than the relay, who comes by the group
};

}  // namespace bawn::shell
