#include "run_inside.hpp"

#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace bawn::files {

namespace {

constexpr std::size_t kMaxErrors = std::size_t{64} * 1024;

/// A pipe whose read end does not block; a large one, since whole listings come through it.
Result<os::Pipe> output_pipe() {
  os::Pipe pipe = BAWN_TRY(os::Pipe::make());
  if (fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make an output pipe"));
  }
  // Refused beyond an ordinary user's share of pipe memory; then it stays as it is.
  static_cast<void>(fcntl(pipe.read.get(), F_SETPIPE_SZ, 512 * 1024));
  return pipe;
}

/// Takes what is there; false at the end.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
      if (static_cast<std::size_t>(got) < buffer.size()) {
        return true;
      }
      continue;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    return got < 0 && errno == EAGAIN;
  }
}

class Reading {
 public:
  Reading(os::UniqueFd out, os::UniqueFd err, const KeepOutput& output)
      : out_(std::move(out)), err_(std::move(err)), output_(output) {}

  Result<> run(const contract::Context& context, InsideRun& result) {
    std::array<pollfd, 2> polled = {pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
      BAWN_TRY(os::wait_events(polled, context));
      if (polled[0].fd >= 0 && polled[0].revents != 0 && !drain(out_.get(), result.out)) {
        polled[0].fd = -1;
      }
      if (polled[1].fd >= 0 && polled[1].revents != 0 && !drain(err_.get(), result.err)) {
        polled[1].fd = -1;
      }
      if (output_.keep != nullptr) {
        drop_lines(result.out);
      }
      if (result.err.size() > kMaxErrors) {
        result.err.resize(kMaxErrors);
      }
      if (result.out.size() > output_.most) {
        result.cut = true;
        result.out.resize(result.out.rfind(output_.end, output_.most) + 1);
        return {};
      }
    }
    return {};
  }

 private:
  /// Takes away the whole lines since the last time that are not kept.
  void drop_lines(std::string& out) {
    std::size_t line = kept_;
    std::size_t end = out.find(output_.end, searched_);
    for (; end != std::string::npos; end = out.find(output_.end, line)) {
      const std::size_t size = end + 1 - line;
      if (output_.keep(std::string_view(out).substr(line, size))) {
        std::memmove(out.data() + kept_, out.data() + line, size);
        kept_ += size;
      }
      line += size;
    }
    out.erase(kept_, line - kept_);
    searched_ = out.size();
  }

  os::UniqueFd out_;
  os::UniqueFd err_;
  KeepOutput output_;
  std::size_t kept_ = 0;      ///< bytes of lines that are kept
  std::size_t searched_ = 0;  ///< where the search for the next newline goes on
};

}  // namespace

Result<InsideRun> run_inside(const contract::Context& context, const Place& place,
                             std::vector<std::string> argv, const std::string& directory,
                             const KeepOutput& output) {
  os::Pipe out = BAWN_TRY(output_pipe());
  os::Pipe err = BAWN_TRY(output_pipe());
  sandbox::SpawnSpec spec;
  spec.argv = std::move(argv);
  spec.env = place.environment;
  spec.cwd = directory;
  spec.standard_output = std::move(out.write);
  spec.standard_error = std::move(err.write);
  const auto child = BAWN_TRY(place.warden->spawn(std::move(spec)));
  BAWN_TRY(child->go());
  InsideRun result;
  const auto read = Reading(std::move(out.read), std::move(err.read), output).run(context, result);
  result.late = !read && read.error().is(ErrorCode::DeadlineExceeded);
  if (!read || result.cut) {
    sandbox::SignalTarget target;
    target.kind = sandbox::SignalTarget::Kind::Group;
    target.id = child->inside_pid();
    static_cast<void>(place.warden->signal(target, SIGKILL));
  }
  if (result.late) {
    return result;
  }
  if (!read) {
    return std::unexpected(read.error());
  }
  const auto status = BAWN_TRY(child->wait(context));
  result.exit_code = status.code;
  result.exec_errno = status.exec_errno;
  return result;
}

}  // namespace bawn::files
