/// \file
/// One call of a session whose shell is a new one for each.
#pragma once

#include "snapshot_shell.hpp"

namespace bawn::shell {

/// Threads: one at a time; holds the session's step slot until it concludes.
class SnapshotCall final : public ExecCall {
 public:
  SnapshotCall(Session::Impl& session, CallPtr record, Launch launch, BashRequest request,
               const contract::Context& context);

 private:
  void add_details(CallResult& result) override;
  void release() override;

  BashRequest request_;
};

}  // namespace bawn::shell
