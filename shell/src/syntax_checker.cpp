#include "syntax_checker.hpp"

#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "plain_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace bawn::shell {

namespace {

// Longer texts come from a file: a pipe holds 64 KiB, and bash reads it byte by byte.
constexpr std::size_t kMaxPiped = 16 * 1024;
constexpr std::size_t kMaxMessage = 4096;

Result<std::string> read_to_end(int fd, const contract::Context& context) {
  std::string text;
  std::array<char, 4096> bytes;
  for (;;) {
    BAWN_TRY(os::wait_readable(fd, context));
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    if (got == 0) {
      return text;
    }
    if (got > 0 && text.size() < kMaxMessage) {
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
}

}  // namespace

ParserCommand bash_parser(const std::string& program) {
  return {.argv = {program, "--norc", "--noprofile", "-O", "extglob", "-n"}, .bash = true};
}

ParserCommand sh_parser(const std::string& program) {
  return {.argv = {program, "-n"}, .bash = false};
}

CallResult faulty(const SyntaxFault& fault) {
  CallResult result;
  result.reason = fault.reason;
  result.message = fault.message;
  return result;
}

struct SyntaxChecker::Waiting {
  std::unique_ptr<sandbox::Child> child;
  os::UniqueFd input;    // writing end; empty when the text comes from a file
  os::UniqueFd reading;  // our own reading end, so that a dead checker raises no SIGPIPE
  os::UniqueFd messages;
};

SyntaxChecker::SyntaxChecker(std::shared_ptr<sandbox::Warden> warden, ParserCommand parser,
                             std::vector<std::string> environment, std::string directory,
                             std::string marker)
    : warden_(std::move(warden)),
      parser_(std::move(parser)),
      environment_(std::move(environment)),
      directory_(std::move(directory)),
      marker_(std::move(marker)) {
  // The words that tell an unfinished here-document apart are looked for in English.
  environment_.emplace_back("LC_ALL=C");
}

SyntaxChecker::SyntaxChecker(Parser elsewhere)
    : parser_{.argv = {}, .bash = false}, elsewhere_(std::move(elsewhere)) {}

SyntaxChecker::~SyntaxChecker() = default;

Result<std::unique_ptr<SyntaxChecker::Waiting>> SyntaxChecker::start(os::UniqueFd input) const {
  os::Pipe messages = BAWN_TRY(os::Pipe::make());
  sandbox::SpawnSpec spec;
  spec.argv = parser_.argv;
  spec.env = environment_;
  spec.cwd = directory_;
  spec.standard_input = std::move(input);
  spec.standard_error = std::move(messages.write);
  spec.call = marker_;
  auto waiting = std::make_unique<Waiting>();
  waiting->child = BAWN_TRY(warden_->spawn(std::move(spec)));
  waiting->messages = std::move(messages.read);
  BAWN_TRY(waiting->child->go());
  return waiting;
}

Result<std::unique_ptr<SyntaxChecker::Waiting>> SyntaxChecker::start_waiting() const {
  os::Pipe input = BAWN_TRY(os::Pipe::make());
  os::UniqueFd ours(fcntl(input.read.get(), F_DUPFD_CLOEXEC, 3));
  auto waiting = BAWN_TRY(start(std::move(input.read)));
  waiting->input = std::move(input.write);
  waiting->reading = std::move(ours);
  return waiting;
}

void SyntaxChecker::prepare() {
  const std::lock_guard lock(mutex_);
  if (waiting_ != nullptr && !waiting_->child->status()) {
    return;
  }
  if (!used_) {
    return;  // many sessions never need one, those elsewhere none at all
  }
  // A failure shows, with its reason, when a text has to be checked.
  if (auto waiting = start_waiting()) {
    waiting_ = std::move(*waiting);
  }
}

bool SyntaxChecker::ready() const {
  const std::lock_guard lock(mutex_);
  return waiting_ != nullptr || !used_;
}

Result<Parsed> SyntaxChecker::parse(const contract::Context& context, std::string_view text) {
  if (elsewhere_ != nullptr) {
    return elsewhere_(context, text);
  }
  std::unique_ptr<Waiting> checker;
  if (text.size() <= kMaxPiped) {
    {
      const std::lock_guard lock(mutex_);
      checker = std::move(waiting_);
      used_ = true;
    }
    if (checker == nullptr || checker->child->status()) {
      checker = BAWN_TRY(start_waiting());
    }
    if (write(checker->input.get(), text.data(), text.size()) !=
        static_cast<ssize_t>(text.size())) {
      return std::unexpected(Error::from_errno(errno, "write", "cannot reach the syntax check"));
    }
    checker->input.reset();
    checker->reading.reset();
  } else {
    os::UniqueFd file = BAWN_TRY(os::sealed_memfd("text", text));
    checker = BAWN_TRY(start(std::move(file)));
  }
  std::string message = BAWN_TRY(read_to_end(checker->messages.get(), context));
  const sandbox::ExitStatus status = BAWN_TRY(checker->child->wait(context));
  while (message.ends_with('\n')) {
    message.pop_back();
  }
  return Parsed{.fits = status.shell_code() == 0, .message = std::move(message)};
}

Result<std::optional<SyntaxFault>> SyntaxChecker::check(const contract::Context& context,
                                                        std::string_view text) {
  if (parser_.bash && is_plain_text(text)) {
    return std::nullopt;
  }
  const Parsed whole = BAWN_TRY(parse(context, text));
  if (!whole.fits) {
    return SyntaxFault{
        .reason = Reason::SyntaxError,
        .message = whole.message.empty() ? "the shell cannot parse the text" : whole.message};
  }
  // An unfinished here-document is no error to a shell: bash -n warns and returns 0, others say
  // nothing. There it shows by swallowing what would be an error behind it.
  if (parser_.bash) {
    if (whole.message.find("here-document") != std::string::npos &&
        whole.message.find("delimited by end-of-file") != std::string::npos) {
      return SyntaxFault{.reason = Reason::IncompleteInput, .message = whole.message};
    }
  } else if (text.find("<<") != std::string_view::npos) {
    const Parsed longer = BAWN_TRY(parse(context, std::string(text) + "\n\n)\n"));
    if (longer.fits) {
      return SyntaxFault{.reason = Reason::IncompleteInput,
                         .message = "a here-document is not ended by its delimiter"};
    }
  }
  return std::nullopt;
}

}  // namespace bawn::shell
