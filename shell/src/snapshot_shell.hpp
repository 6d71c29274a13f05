/// \file
/// A session's shell where there is no bash: a new POSIX sh for each call, which begins with the
/// state that the one before left (docs/shell.md, "Without bash").
#pragma once

#include "exec_call.hpp"
#include "sh_state.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace bawn::shell {

/// Threads: thread-safe.
class SnapshotShell {
 public:
  /// Runs the shell once without a text, which shows that it is one, and keeps what it says as the
  /// first state.
  ///
  /// Blocking: at most 10 s. Errors: the warden's; NotFound when there is no such program; Internal
  /// when it is no POSIX shell.
  static Result<std::unique_ptr<SnapshotShell>> start(Session::Impl& session, std::string program);

  /// "PROGRAM (snapshot)".
  [[nodiscard]] std::string name() const { return program_ + " (snapshot)"; }
  /// What of a call's doings the next one does not find, each in some words.
  [[nodiscard]] std::vector<std::string> not_kept() const;

  /// Writes the files of a call and says what to start. `keeps`: the state flows back, by
  /// `take()`.
  ///
  /// Errors: those of the session's directory.
  [[nodiscard]] Result<Launch> launch(const Session::Impl& session, const BashRequest& request,
                                      bool keeps) const;

  /// What became of a call's state.
  enum class Taken {
    Kept,
    None,     ///< the shell ended without writing it down: that of the call before stays
    Refused,  ///< it could not take on the old state, so the text never began; the first one is
              ///< back
  };
  /// Takes the state that a call left, and what the result says of it: directory and options.
  Taken take(const Launch& launch, const BashRequest& request, std::size_t limit,
             CallResult& result);
  /// True once, for the result that says what kind of shell this is.
  [[nodiscard]] bool introduce();
  [[nodiscard]] bool prints_functions() const noexcept { return prints_functions_; }
  /// For "$?" of the next call.
  void set_last_status(int status);
  /// The next call begins as the first one did.
  void forget();

 private:
  SnapshotShell(std::string program, ShState first, std::set<std::string> own,
                bool prints_functions);

  const std::string program_;
  const ShState first_;
  const std::set<std::string> own_;  ///< variables that the shell itself makes read-only
  const bool prints_functions_;
  mutable std::mutex mutex_;
  ShState state_;
  int last_status_ = 0;
  bool introduced_ = false;
};

}  // namespace bawn::shell
