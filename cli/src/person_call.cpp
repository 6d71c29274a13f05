#include "person_call.hpp"

#include "bawn/contract/context.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <tuple>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;
using shell::CallResult;

/// How long the session waits for the end of a command before it shows what there is.
constexpr shell::Milliseconds kGlance{50};

sigset_t interrupt_alone() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  return signals;
}

void show(const CallResult& result) {
  std::fwrite(result.out.text.data(), 1, result.out.text.size(), stdout);
  std::fflush(stdout);
  std::fwrite(result.err.text.data(), 1, result.err.text.size(), stderr);
}

std::string outcome_of(const CallResult& result) {
  const auto reason = result.reason.value_or(shell::Reason::Exited);
  if (reason == shell::Reason::SyntaxError || reason == shell::Reason::IncompleteInput) {
    return fmt::format("does not parse, nothing ran: {}", result.message);
  }
  if (result.signal) {
    const char* name = sigabbrev_np(*result.signal);
    return fmt::format("killed by SIG{}", name == nullptr ? "?" : name);
  }
  std::string text = fmt::format("exit {}", result.exit_code.value_or(0));
  if (reason != shell::Reason::Exited && reason != shell::Reason::Signalled) {
    text = fmt::format("{}, {}", shell::to_string(reason), text);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Interrupts>> Interrupts::catch_them() {
  const sigset_t interrupt = interrupt_alone();
  os::UniqueFd signals(::signalfd(-1, &interrupt, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.is_open()) {
    return std::unexpected(Error::from_errno(errno, "signalfd", "cannot catch Ctrl-C"));
  }
  if (const int failed = ::pthread_sigmask(SIG_BLOCK, &interrupt, nullptr); failed != 0) {
    return std::unexpected(Error::from_errno(failed, "pthread_sigmask", "cannot catch Ctrl-C"));
  }
  return std::unique_ptr<Interrupts>(new Interrupts(std::move(signals)));
}

Interrupts::~Interrupts() {
  std::ignore = take();
  const sigset_t interrupt = interrupt_alone();
  ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

bool Interrupts::take() const noexcept {
  signalfd_siginfo signal{};
  return ::read(signals_.get(), &signal, sizeof signal) == sizeof signal;
}

Result<CallResult> run_for_person(shell::Session& session, const Interrupts& interrupts,
                                  const std::string& text) {
  shell::BashRequest request;
  request.command = text;
  request.yield = kGlance;
  CallResult result = BAWN_TRY(session.run(contract::Context(), std::move(request)));
  show(result);
  bool stopping = false;
  while (result.state == shell::CallState::Running) {
    if (!stopping && interrupts.take()) {
      stopping = true;
      std::ignore = session.stop(result.call);
    }
    result = BAWN_TRY(
        session.output(contract::Context(),
                       {.call = result.call, .wait = kGlance, .out_from = {}, .err_from = {}}));
    show(result);
  }
  return result;
}

bool is_incomplete(const CallResult& result) {
  if (result.reason == shell::Reason::IncompleteInput) {
    return true;
  }
  // bash's own words; a text that is wrong in another way fails at a token, not at the end.
  return result.reason == shell::Reason::SyntaxError &&
         (result.message.find("unexpected end of file") != std::string::npos ||
          result.message.find("unexpected EOF while looking for matching") != std::string::npos);
}

int status_of(const CallResult& result) {
  const auto reason = result.reason.value_or(shell::Reason::Exited);
  if (reason == shell::Reason::SyntaxError || reason == shell::Reason::IncompleteInput) {
    return 2;
  }
  if (result.signal) {
    return 128 + *result.signal;
  }
  return result.exit_code.value_or(0);
}

std::string report_line(const CallResult& result, const contract::Confinement& confinement) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(result.duration);
  std::string line = fmt::format("[{} · {} ms · {}", outcome_of(result), ms.count(),
                                 confinement.confined ? confinement.by : "NOT CONFINED");
  if (!result.cwd.empty()) {
    line += " · " + result.cwd;
  }
  if (!result.survivors.empty()) {
    line += fmt::format(" · {} still running", result.survivors.size());
  }
  if (result.shell_restarted) {
    line += fmt::format(" · new shell, state: {}", shell::to_string(result.restored));
  }
  // The directory and a parser's words may hold what a command has chosen.
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return line + "]";
}

}  // namespace bawn::cli
