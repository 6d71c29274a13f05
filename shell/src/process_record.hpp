/// \file
/// The record that lets a later server end what this one left behind (namespace
/// `shell:process-group`).
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/sandbox/warden.hpp"
#include "bawn/shell/call_result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bawn::shell {

inline constexpr const char* kProcessRecord = "shell:process-group";

struct ProcessRecord {
  std::string session;
  std::string call;
  std::string place;  ///< where its numbers mean something; empty = this machine
  const sandbox::Warden* warden = nullptr;
  const sandbox::Child* child = nullptr;  ///< the shell, or the one-shot process
  bool is_shell = false;
  std::vector<int> groups;  ///< inside process groups of the call, as far as they were seen
};

/// Hands it to the context's recorder and returns its data once that is done; without a recorder
/// nothing happens and nothing is returned.
///
/// Errors: the recorder's.
[[nodiscard]] Result<std::optional<Json>> write_process_record(const contract::Context& context,
                                                               const ProcessRecord& record);

}  // namespace bawn::shell
