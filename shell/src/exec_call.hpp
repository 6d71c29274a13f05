/// \file
/// One program beside the shell.
#pragma once

#include "bawn/sandbox/warden.hpp"
#include "driven_call.hpp"
#include "session_impl.hpp"

#include <memory>

namespace bawn::shell {

/// Threads: one at a time.
class ExecCall final : public DrivenCall {
 public:
  ExecCall(Session::Impl& session, CallPtr record, const ExecRequest& request,
           const contract::Context& context);

  /// Starts the program: record first, then go.
  ///
  /// Errors: the warden's, the recorder's.
  [[nodiscard]] Result<> begin(const ExecRequest& request);

 private:
  StopResult stop() override;
  void conclude(const std::optional<StopResult>& stopped) override;
  void from_status(CallResult& result) const;
  [[nodiscard]] CallScope scope() const;

  Session::Impl& session_;
  contract::Context recording_;
  std::unique_ptr<sandbox::Child> child_;
  std::uint64_t not_before_ = 0;
  std::string program_;
  std::optional<Json> record_data_;
  std::string cwd_;
  os::UniqueFd out_;
  os::UniqueFd err_;
};

}  // namespace bawn::shell
