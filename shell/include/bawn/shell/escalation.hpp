/// \file
/// A call that asks for one more path or host: who decides, and what a yes is about.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/sandbox/widen.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bawn::shell {

/// What is to be decided. All that stems from the call is the caller's words: the justification may
/// lie, and what runs depends on the directory, the variables and the input as well.
struct EscalationRequest {
  std::string tool;                          ///< "bash" or "exec"
  std::string session;                       ///< as the caller named it
  std::string command;                       ///< what would run
  std::optional<std::string> cwd{};          ///< where, as the caller wrote it; else the workspace
  std::map<std::string, std::string> env{};  ///< variables that the call sets
  std::optional<std::string> input{};        ///< what it would read from standard input
  std::string justification;                 ///< why, in the caller's words
  std::string policy;                        ///< name of the session's policy
  sandbox::Widening widening;
};

/// A yes is for one call. Secrets and protected names need their own: where the request has some,
/// `granted` alone is a no.
struct EscalationDecision {
  bool granted = false;
  bool secrets = false;
  bool protected_names = false;
  std::string by;  ///< who decided, for the report: "the user", "the host"
};

/// Blocking: until it is decided or the context ends. Threads: called concurrently.
using Escalator = std::function<contract::Result<EscalationDecision>(
    const contract::Context& context, const EscalationRequest& request)>;

/// Asks the person behind the call (elicitation). Where nobody can be asked the answer is no.
///
/// Errors: asking failed, which is not a no; nothing may run then.
[[nodiscard]] contract::Result<EscalationDecision> ask_person(const contract::Context& context,
                                                              const EscalationRequest& request);

/// What a request opens, on one line: "write /srv/x; host example.org; secret /home/u/.ssh".
[[nodiscard]] std::string words_of(const sandbox::Widening& widening);

}  // namespace bawn::shell
