#include "exec_control.hpp"

#include "bawn/os/poll.hpp"
#include "bawn/os/quiet_write.hpp"
#include "command.hpp"
#include "place_directory.hpp"
#include "process_line.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

namespace bawn::container {
namespace {

constexpr std::chrono::seconds kStartLimit{30};
constexpr std::chrono::seconds kAnswerLimit{10};
constexpr std::chrono::seconds kEndLimit{10};
constexpr std::size_t kLongestAnswer = 16 * 1024 * 1024;
constexpr std::size_t kLongestComplaint = 4096;

contract::Context within(const contract::Context& context, std::chrono::seconds limit) {
  return context.with_deadline(contract::Context::Clock::now() + limit);
}

/// Takes what is there; false at the end.
bool take(int fd, std::string& text) {
  std::array<char, 16384> bytes;
  for (;;) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return got != 0 && errno == EAGAIN;
    }
  }
}

}  // namespace

ExecControl::ExecControl(ExecRoute route, std::string mark)
    : route_(std::move(route)), mark_(std::move(mark)), name_(".bawn-" + random_word(16)) {}

Result<std::shared_ptr<ExecControl>> ExecControl::start(const contract::Context& context,
                                                        ExecRoute route, std::string mark) {
  std::shared_ptr<ExecControl> control(new ExecControl(std::move(route), std::move(mark)));
  const std::lock_guard lock(control->mutex_);
  BAWN_TRY(control->begin(context));
  return control;
}

Result<> ExecControl::begin(const contract::Context& context) {
  const std::string lost = std::exchange(self_, {});
  nonce_ = random_word(20);
  complaints_.clear();
  client_ = BAWN_TRY(route_.start({}, kControlScript, {nonce_, mark_, name_, directory_}));
  auto who = exchange(within(context, kStartLimit), {});
  if (!who) {
    drop();
    const std::string words = first_complaint(complaints_);
    if (who.error().is(ErrorCode::Closed)) {
      return contract::fail(
          ErrorCode::Unsupported,
          fmt::format("no shell can be run in {}: {}", route_.container,
                      words.empty() ? "the engine's exec ended without a word" : words));
    }
    return std::unexpected(std::move(who).error());
  }
  // "UID GID DIRECTORY|STAT"
  const std::size_t bar = who->find('|');
  const auto process =
      bar == std::string::npos ? std::nullopt : process_of(std::string_view(*who).substr(bar + 1));
  const char* at = who->data();
  const char* const end = who->data() + (process ? bar : 0);
  const auto uid = std::from_chars(at, end, uid_);
  at = uid.ptr + (uid.ptr < end ? 1 : 0);
  const auto gid = std::from_chars(at, end, gid_);
  if (uid.ec != std::errc() || gid.ec != std::errc()) {
    drop();
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("the shell in {} cannot read /proc, which is needed to find "
                                      "and end what a call started",
                                      route_.container));
  }
  at = gid.ptr + (gid.ptr < end ? 1 : 0);
  directory_.assign(at, end);
  self_ = fmt::format("{}:{}", process->pid, process->start_time);
  if (!lost.empty()) {
    // Stopped rather than ended, perhaps: then nobody else ends it.
    (void)exchange(within(context, kAnswerLimit), fmt::format("b_kill KILL {}\n", lost));
  }
  return {};
}

Result<std::string> ExecControl::exchange(const contract::Context& context, std::string_view line) {
  const std::string last = fmt::format("\nbawn-{}\n", nonce_);
  std::string answer;
  for (;;) {
    std::array<pollfd, 3> fds = {{{client_.output.get(), POLLIN, 0},
                                  {client_.errors.get(), POLLIN, 0},
                                  {line.empty() ? -1 : client_.input.get(), POLLOUT, 0}}};
    BAWN_TRY(os::wait_events(fds, context));
    if (fds[2].revents != 0) {
      const long wrote = os::write_quietly(client_.input.get(), line.data(), line.size());
      if (wrote < 0 && errno != EAGAIN) {
        return contract::fail(ErrorCode::Closed, "the shell in the container is gone");
      }
      line.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
    if (fds[1].revents != 0 && !take(client_.errors.get(), complaints_)) {
      client_.errors.reset();
    }
    complaints_.resize(std::min(complaints_.size(), kLongestComplaint));
    const bool more = fds[0].revents == 0 || take(client_.output.get(), answer);
    if (answer.ends_with(last)) {
      answer.resize(answer.size() - last.size());
      return answer;
    }
    if (!more) {
      // Its words come on the other stream, and may be behind.
      if (client_.errors.is_open() &&
          os::wait_readable(client_.process.get(), within(context, kAnswerLimit))) {
        (void)take(client_.errors.get(), complaints_);
      }
      return contract::fail(ErrorCode::Closed, "the shell in the container is gone");
    }
    if (answer.size() > kLongestAnswer) {
      return contract::fail(ErrorCode::ResourceExhausted,
                            "the shell in the container answers without an end");
    }
  }
}

void ExecControl::drop() noexcept {
  client_.input.reset();
  if (client_.process.is_open()) {
    (void)client_.process.signal(SIGKILL);
    client_.process.wait();
  }
  client_ = ExecClient();
}

Result<std::string> ExecControl::ask(const contract::Context& context, const std::string& line) {
  const std::lock_guard lock(mutex_);
  std::optional<Error> last;
  for (int attempt = 0; attempt < 2 && !closed_; ++attempt) {
    if (!client_.process.is_open()) {
      BAWN_TRY(begin(context));
    }
    // To its end also for a caller that was cancelled: the next answer would be this one else, and
    // letting go of the shell would end the session.
    auto answer = exchange(within(context.detached(), kAnswerLimit), line + "\n");
    if (answer) {
      return answer;
    }
    last = std::move(answer).error();
    drop();
    if (context.cancelled()) {
      break;
    }
  }
  return last ? std::unexpected(*std::move(last))
              : contract::fail(ErrorCode::Closed, "the session is closed");
}

int ExecControl::pid() const {
  const std::lock_guard lock(mutex_);
  int number = 0;
  std::from_chars(self_.data(), self_.data() + self_.size(), number);
  return number;
}

bool ExecControl::alive() const {
  // Whoever holds it speaks with the shell, which commands can stop: nobody waits for that here.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return !lock.owns_lock() || (!closed_ && client_.process.is_open() && !client_.process.exited());
}

void ExecControl::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true)) {
    return;
  }
  const contract::Context context;
  if (!client_.process.is_open() || client_.process.exited()) {
    drop();
    // Somebody ended it; what it would have ended may be there still.
    if (!begin(within(context, kEndLimit))) {
      return;
    }
  }
  client_.input.reset();
  (void)os::wait_readable(client_.process.get(), within(context, kEndLimit));
  drop();
}

Result<> ExecControl::write(const std::string& path, std::string_view bytes) {
  const std::string said =
      BAWN_TRY(ask(contract::Context(),
                   fmt::format("b_put {} {} && echo made", shell_word(path), shell_word(bytes))));
  return said == "made\n"
             ? Result<>()
             : contract::fail(ErrorCode::PermissionDenied,
                              fmt::format("cannot write {} in {}", path, route_.container));
}

Result<std::string> ExecControl::read(const std::string& path, std::size_t limit) {
  return ask(contract::Context(), fmt::format("b_get {} {}", shell_word(path), limit));
}

void ExecControl::remove(const std::string& path) noexcept {
  (void)ask(contract::Context(), fmt::format("rm -f {}", shell_word(path)));
}

Result<shell::Parsed> ExecControl::parse(const contract::Context& context, const std::string& shell,
                                         const std::string& path) {
  std::string said =
      BAWN_TRY(ask(context, fmt::format("b_parse {} {}", shell_word(shell), shell_word(path))));
  shell::Parsed parsed;
  if (said.ends_with('\n')) {
    said.pop_back();
  }
  const std::size_t last = said.rfind('\n');  // "WORDS\nSTATUS"
  if (last == std::string::npos) {
    return contract::fail(ErrorCode::Internal, "the shell in the container did not parse the text");
  }
  parsed.fits = said.substr(last + 1) == "0";
  said.resize(last);
  for (std::size_t at = said.find(path); at != std::string::npos; at = said.find(path, at)) {
    said.replace(at, path.size(), "sh");
  }
  while (said.ends_with('\n')) {
    said.pop_back();
  }
  parsed.message = std::move(said);
  return parsed;
}

}  // namespace bawn::container
