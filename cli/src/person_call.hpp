/// \file
/// One command of a person: printed while it runs, stopped by Ctrl-C, told in one line.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/shell/session.hpp"

#include <memory>
#include <string>
#include <utility>

namespace bawn::cli {

/// While it lives SIGINT is never delivered: it waits until somebody takes it, so that a Ctrl-C
/// counts whenever it was typed.
///
/// Threads: made by the main thread, before others that do not block signals.
class Interrupts {
 public:
  /// Errors: by errno of pthread_sigmask(3) and signalfd(2).
  static contract::Result<std::unique_ptr<Interrupts>> catch_them();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Whether one has come since the last time. Does not block.
  [[nodiscard]] bool take() const noexcept;
  /// Readable while one waits.
  [[nodiscard]] int fd() const noexcept { return signals_.get(); }

 private:
  explicit Interrupts(os::UniqueFd signals) : signals_(std::move(signals)) {}

  os::UniqueFd signals_;
};

/// Runs the text in the session's bash and copies its output to our streams as it comes.
///
/// Blocking: until the command's foreground part ends. A SIGINT stops what it started, also one
/// that came before it began; the result then says Cancelled. Errors: Session::run's.
[[nodiscard]] contract::Result<shell::CallResult> run_for_person(shell::Session& session,
                                                                 const Interrupts& interrupts,
                                                                 const std::string& text);

/// The text ended within a quote, a compound command or a here-document; nothing ran.
[[nodiscard]] bool is_incomplete(const shell::CallResult& result);
/// As a shell gives it: the exit code, 128 + signal, 2 for a text that does not parse.
[[nodiscard]] int status_of(const shell::CallResult& result);
/// "[exit 0 · 12 ms · landlock+seccomp+namespaces · /home/me/src]".
[[nodiscard]] std::string report_line(const shell::CallResult& result,
                                      const contract::Confinement& confinement);

}  // namespace bawn::cli
