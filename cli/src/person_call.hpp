/// \file
/// One command of a person: printed while it runs, stopped by Ctrl-C, told in one line.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/shell/session.hpp"

#include <memory>
#include <string>

namespace bawn::cli {

/// While it lives SIGINT ends the running command and not this program.
class Interrupts {
 public:
  /// Errors: by errno of sigaction(2).
  static contract::Result<std::unique_ptr<Interrupts>> catch_them();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  Interrupts() = default;
};

/// Runs the text in the session's bash and copies its output to our streams as it comes.
///
/// Blocking: until the command's foreground part ends. A SIGINT stops what it started; the result
/// then says Cancelled. Errors: Session::run's.
[[nodiscard]] contract::Result<shell::CallResult> run_for_person(shell::Session& session,
                                                                 const std::string& text);

/// The text ended within a quote, a compound command or a here-document; nothing ran.
[[nodiscard]] bool is_incomplete(const shell::CallResult& result);
/// As a shell gives it: the exit code, 128 + signal, 2 for a text that does not parse.
[[nodiscard]] int status_of(const shell::CallResult& result);
/// "[exit 0 · 12 ms · landlock+seccomp+namespaces · /home/me/src]".
[[nodiscard]] std::string report_line(const shell::CallResult& result,
                                      const contract::Confinement& confinement);

}  // namespace bawn::cli
