#include "exec_run.hpp"

#include "bawn/os/library_thread.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/quiet_write.hpp"
#include "command.hpp"
#include "place_directory.hpp"
#include "process_line.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace bawn::container {
namespace {

constexpr std::string_view kMark = "BAWN_EXEC";
constexpr std::chrono::seconds kStartLimit{20};
/// What an engine's command may take to end once its process in the container has.
constexpr std::chrono::seconds kLeaveLimit{3};
/// So much is kept for a reader who does not read; then the engine's stream waits.
constexpr std::size_t kMostPending = 64 * 1024;
/// The shell's last word with its number.
constexpr std::size_t kLongestWord = 128;

bool is_name(std::string_view name) {
  return !name.empty() && (name.front() < '0' || name.front() > '9') &&
         std::ranges::all_of(name, [](char letter) {
           return letter == '_' || (letter >= '0' && letter <= '9') ||
                  (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
         });
}

/// The line that becomes the command.
std::string command_of(const sandbox::SpawnSpec& spec) {
  std::string line;
  for (const std::string& entry : spec.env) {
    const std::size_t equals = entry.find('=');
    const std::string_view name = std::string_view(entry).substr(0, equals);
    // What a shell can't export has come from the image, and the engine has set it already.
    if (equals != std::string::npos && is_name(name) && name != kMark && name != "BAWN_CALL") {
      line += fmt::format("export {}={}; ", name,
                          shell_word(std::string_view(entry).substr(equals + 1)));
    }
  }
  line += "exec";
  for (const std::string& word : spec.argv) {
    line += " " + shell_word(word);
  }
  return line + (spec.standard_input.is_open() ? "\n" : " </dev/null\n");
}

}  // namespace

ExecRun::ExecRun(ExecClient client, std::string nonce, os::EventFd ended, os::EventFd wake)
    : client_(std::move(client)),
      word_("bawn-" + std::move(nonce) + " "),
      ended_(std::move(ended)),
      wake_(std::move(wake)) {}

ExecRun::~ExecRun() {
  if (!thread_.joinable()) {
    see_off();  // never let go: the shell ends with its input
    return;
  }
  give_up();
  join();
}

Result<std::shared_ptr<ExecRun>> ExecRun::begin(const ExecRoute& route, sandbox::SpawnSpec& spec,
                                                const std::string& mark) {
  std::string nonce = random_word(20);
  std::vector<std::string> variables = {fmt::format("{}={}", kMark, mark)};
  if (!spec.call.empty()) {
    variables.push_back("BAWN_CALL=" + spec.call);
  }
  ExecClient client = BAWN_TRY(route.start(variables, kCallScript, {nonce}));
  std::shared_ptr<ExecRun> run(new ExecRun(std::move(client), std::move(nonce),
                                           BAWN_TRY(os::EventFd::make()),
                                           BAWN_TRY(os::EventFd::make())));
  run->command_ = command_of(spec);
  run->has_input_ = spec.standard_input.is_open();
  run->source_ = std::move(spec.standard_input);
  run->out_.to = std::move(spec.standard_output);
  run->err_.to = std::move(spec.standard_error);
  for (const Flow* flow : {&run->out_, &run->err_}) {
    // Ours alone: nobody else has this end.
    if (flow->to.is_open() && ::fcntl(flow->to.get(), F_SETFL, O_NONBLOCK) != 0) {
      return std::unexpected(Error::from_errno(errno, "fcntl", "cannot pass output on"));
    }
  }
  run->to_shell_ = fmt::format("cd -- {}\n", shell_word(spec.cwd.empty() ? "/" : spec.cwd));
  BAWN_TRY(run->hear(route));
  return run;
}

Result<> ExecRun::hear(const ExecRoute& route) {
  const auto limited =
      contract::Context().with_deadline(contract::Context::Clock::now() + kStartLimit);
  std::string said;
  for (;;) {
    std::array<pollfd, 2> fds = {{{client_.errors.get(), POLLIN, 0},
                                  {to_shell_.empty() ? -1 : client_.input.get(), POLLOUT, 0}}};
    BAWN_TRY(os::wait_events(fds, limited));
    if (fds[1].revents != 0) {
      const long wrote = os::write_quietly(client_.input.get(), to_shell_.data(), to_shell_.size());
      if (wrote < 0 && errno != EAGAIN) {
        to_shell_.clear();  // it takes no more; why, it says on the other stream
      }
      to_shell_.erase(0, wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
    if (fds[0].revents == 0) {
      continue;
    }
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(client_.errors.get(), bytes.data(), bytes.size());
    if (got == 0 || said.size() > 64 * 1024) {
      return contract::fail(ErrorCode::Closed, fmt::format("{} could not run a command in {}: {}",
                                                           route.engine->name(), route.container,
                                                           first_complaint(said)));
    }
    said.append(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::size_t at = said.find(word_);
    const std::size_t line_end = at == std::string::npos ? at : said.find('\n', at);
    if (line_end == std::string::npos) {
      continue;
    }
    const std::string_view line =
        std::string_view(said).substr(at + word_.size(), line_end - at - word_.size());
    if (line.starts_with("nodir")) {
      return contract::fail(ErrorCode::NotFound,
                            fmt::format("cannot enter the working directory in {}: {}",
                                        route.container, first_complaint(said.substr(0, at))));
    }
    const auto process = process_of(line.substr(std::min<std::size_t>(line.size(), 3)));
    if (!process) {
      return contract::fail(ErrorCode::Unsupported,
                            fmt::format("the shell in {} cannot read /proc", route.container));
    }
    pid_ = process->pid;
    start_time_ = process->start_time;
    leads_ = process->sid == process->pid;
    return {};
  }
}

Result<> ExecRun::go() {
  to_shell_ = std::move(command_);
  out_.from = std::move(client_.output);
  err_.from = std::move(client_.errors);
  done_ = false;
  auto thread = os::joinable_library_thread([this] { carry(); });
  if (!thread) {
    done_ = true;
    return std::unexpected(std::move(thread).error());
  }
  thread_ = *std::move(thread);
  return {};
}

std::optional<sandbox::ExitStatus> ExecRun::status() const {
  const std::lock_guard lock(mutex_);
  if (!code_) {
    return std::nullopt;
  }
  sandbox::ExitStatus status;
  status.code = *code_;
  return status;
}

void ExecRun::give_up() noexcept {
  wake_.signal();
}

void ExecRun::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void ExecRun::take(Flow& flow) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::read(flow.from.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    flow.from.reset();
    flow.pending += std::exchange(flow.held, {});
    return;
  }
  if (flow.told) {
    return;  // of what runs on in the background: the call is over
  }
  flow.held.append(bytes.data(), static_cast<std::size_t>(got));
  std::size_t at = flow.held.find(word_);
  const std::size_t line_end =
      at == std::string::npos ? std::string::npos : flow.held.find('\n', at);
  if (line_end != std::string::npos) {
    int code = 0;
    const char* const begin = flow.held.data() + at + word_.size();
    if (std::from_chars(begin, flow.held.data() + line_end, code).ec == std::errc()) {
      const std::lock_guard lock(mutex_);
      code_ = code & 0xff;
    }
    flow.told = true;
  } else if (at != std::string::npos && flow.held.size() - at > kLongestWord) {
    at = flow.held.size();  // the command's own text
  } else if (at == std::string::npos) {
    // The end of what is there may be the beginning of the word.
    at = flow.held.size() - std::min(flow.held.size(), word_.size() - 1);
    while (at < flow.held.size() && !word_.starts_with(std::string_view(flow.held).substr(at))) {
      ++at;
    }
  }
  flow.pending.append(flow.held, 0, at);
  flow.held.erase(0, flow.told ? flow.held.size() : at);
}

void ExecRun::give(Flow& flow) {
  while (flow.to.is_open() && !flow.pending.empty()) {
    const long wrote = os::write_quietly(flow.to.get(), flow.pending.data(), flow.pending.size());
    if (wrote < 0 && errno == EAGAIN) {
      return;
    }
    if (wrote < 0) {
      flow.to.reset();  // nobody reads any more
      break;
    }
    flow.pending.erase(0, static_cast<std::size_t>(wrote));
  }
  if (!flow.to.is_open()) {
    flow.pending.clear();
  }
}

void ExecRun::feed() {
  if (to_shell_.empty() && source_.is_open()) {
    std::array<char, 65536> bytes;
    const ssize_t got = ::read(source_.get(), bytes.data(), bytes.size());
    if (got > 0) {
      to_shell_.assign(bytes.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      source_.reset();
    }
  }
  if (!to_shell_.empty()) {
    const long wrote = os::write_quietly(client_.input.get(), to_shell_.data(), to_shell_.size());
    if (wrote < 0 && errno != EAGAIN) {
      source_.reset();
      to_shell_.clear();
    } else {
      to_shell_.erase(0, wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
  }
  if (has_input_ && to_shell_.empty() && !source_.is_open()) {
    client_.input.reset();  // the end of the command's input
  }
}

void ExecRun::carry() {
  bool woken = false;
  for (;;) {
    const auto is_over = [](const Flow& flow) {
      return (flow.told || !flow.from.is_open()) && flow.pending.empty();
    };
    if (woken || (is_over(out_) && is_over(err_))) {
      break;
    }
    const auto readable = [](const Flow& flow) {
      return flow.from.is_open() && !flow.told && flow.pending.size() < kMostPending
                 ? flow.from.get()
                 : -1;
    };
    const auto writable = [](const Flow& flow) {
      return flow.pending.empty() ? -1 : flow.to.get();
    };
    const bool writes = !to_shell_.empty();
    std::array<pollfd, 6> fds = {{{readable(out_), POLLIN, 0},
                                  {readable(err_), POLLIN, 0},
                                  {writable(out_), POLLOUT, 0},
                                  {writable(err_), POLLOUT, 0},
                                  {writes              ? client_.input.get()
                                   : source_.is_open() ? source_.get()
                                                       : -1,
                                   static_cast<short>(writes ? POLLOUT : POLLIN), 0},
                                  {wake_.get(), POLLIN, 0}}};
    if (!os::wait_events(fds, contract::Context())) {
      break;
    }
    woken = fds[5].revents != 0;
    if (fds[0].revents != 0) {
      take(out_);
    }
    if (fds[1].revents != 0) {
      take(err_);
    }
    give(out_);
    give(err_);
    if (fds[4].revents != 0) {
      feed();
    }
  }
  finish();
  see_off();
  done_ = true;
}

void ExecRun::finish() {
  out_.to.reset();
  err_.to.reset();
  source_.reset();
  ended_.signal();
}

void ExecRun::see_off() {
  client_.input.reset();
  if (!client_.process.is_open()) {
    return;
  }
  const auto limited =
      contract::Context().with_deadline(contract::Context::Clock::now() + kLeaveLimit);
  // Its streams are read to the end meanwhile, which may be what it waits for.
  for (bool waiting = true; waiting;) {
    std::array<pollfd, 4> fds = {{{client_.process.get(), POLLIN, 0},
                                  {out_.from.is_open() ? out_.from.get() : -1, POLLIN, 0},
                                  {err_.from.is_open() ? err_.from.get() : -1, POLLIN, 0},
                                  {wake_.get(), POLLIN, 0}}};
    waiting =
        os::wait_events(fds, limited).has_value() && fds[0].revents == 0 && fds[3].revents == 0;
    for (Flow* flow : {&out_, &err_}) {
      flow->told = true;
      if (flow->from.is_open()) {
        take(*flow);
      }
    }
  }
  if (!client_.process.exited()) {
    (void)client_.process.signal(SIGKILL);
  }
  client_.process.wait();
  client_ = ExecClient();
}

}  // namespace bawn::container
