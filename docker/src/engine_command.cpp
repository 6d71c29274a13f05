#include "engine_command.hpp"

#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/spawn.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace bawn::container {

using contract::Error;
using contract::Result;

Result<EngineCommand> EngineCommand::start(const std::string& program,
                                           std::vector<std::string> words,
                                           const std::vector<std::string>& environment,
                                           const os::UniqueFd& output) {
  EngineCommand command;
  os::Pipe life = BAWN_TRY(os::Pipe::make());
  command.errors_.reset(::memfd_create("bawn-engine", MFD_CLOEXEC));
  if (!command.errors_.is_open()) {
    return std::unexpected(Error::from_errno(errno, "memfd_create", "cannot keep complaints"));
  }
  os::SpawnOptions run;
  run.program = program;
  run.argv = std::move(words);
  run.argv.insert(run.argv.begin(), program);
  run.env = environment;
  run.fds = {{life.read.get(), 0},
             {output.is_open() ? output.get() : command.errors_.get(), 1},
             {command.errors_.get(), 2}};
  command.process_ = BAWN_TRY(os::spawn(run));
  command.life_ = std::move(life.write);
  return command;
}

std::string EngineCommand::complaints() const {
  std::array<char, 16384> text;
  const ssize_t count = ::pread(errors_.get(), text.data(), text.size(), 0);
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

bool EngineCommand::end(std::chrono::milliseconds limit) noexcept {
  life_.reset();
  if (!process_.is_open()) {
    return true;
  }
  const auto soon = contract::Context().with_deadline(contract::Context::Clock::now() + limit);
  if (!os::wait_readable(process_.get(), soon)) {
    return false;
  }
  (void)process_.reap();
  process_ = os::Pidfd();
  return true;
}

void EngineCommand::kill() noexcept {
  constexpr std::chrono::seconds kLimit{5};
  if (process_.is_open()) {
    (void)process_.signal(SIGKILL);
    (void)end(kLimit);
  }
}

}  // namespace bawn::container
