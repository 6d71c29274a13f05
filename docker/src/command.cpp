#include "command.hpp"

#include "bawn/contract/quote.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/spawn.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace bawn::container {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{16} << 20U;
constexpr std::size_t kMaxComplaint = 300;

/// False at the end of the stream.
bool take_some(const os::UniqueFd& from, std::string& to) {
  std::array<char, 65536> bytes;
  const ssize_t count = ::read(from.get(), bytes.data(), bytes.size());
  if (count > 0) {
    to.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return count > 0 || (count < 0 && errno == EINTR);
}

Result<> take_output(const contract::Context& context, os::UniqueFd out, os::UniqueFd err,
                     CommandOutput& output) {
  std::array<pollfd, 2> waiting = {{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    BAWN_TRY(os::wait_events(waiting, context));
    if (waiting[0].revents != 0 && !take_some(out, output.out)) {
      waiting[0].fd = -1;
    }
    if (waiting[1].revents != 0 && !take_some(err, output.err)) {
      waiting[1].fd = -1;
    }
    if (output.out.size() + output.err.size() > kMaxOutput) {
      return contract::fail(ErrorCode::ResourceExhausted,
                            "the container engine printed more than 16 MiB");
    }
  }
  return {};
}

/// Collects the process; its status as a shell gives it.
int status_of(const os::Pidfd& process) {
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(process.get()), &info, WEXITED) != 0) {
    if (errno != EINTR) {
      return 127;
    }
  }
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

}  // namespace

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

std::string find_in_path(const std::vector<std::string>& environment, const std::string& name) {
  const std::string path = variable(environment, "PATH");
  std::string_view rest = path.empty() ? std::string_view("/usr/local/bin:/usr/bin:/bin") : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    const std::string file = fmt::format("{}/{}", folder, name);
    if (folder.starts_with('/') && ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return {};
}

Result<CommandOutput> run_command(const contract::Context& context, const std::string& program,
                                  const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment,
                                  const std::string& input) {
  os::Pipe out = BAWN_TRY(os::Pipe::make());
  os::Pipe err = BAWN_TRY(os::Pipe::make());
  os::SpawnOptions spawn;
  spawn.program = program;
  spawn.argv = {program};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.env = environment;
  spawn.fds = {{out.write.get(), 1}, {err.write.get(), 2}};
  os::UniqueFd given;
  if (!input.empty()) {
    given.reset(::open(input.c_str(), O_RDONLY | O_CLOEXEC));
    if (!given.is_open()) {
      return std::unexpected(Error::from_errno(errno, "open", input));
    }
    spawn.fds.emplace_back(given.get(), 0);
  }
  const os::Pidfd process = BAWN_TRY(os::spawn(spawn));
  out.write.reset();
  err.write.reset();
  CommandOutput output;
  auto taken = take_output(context, std::move(out.read), std::move(err.read), output);
  if (taken) {
    taken = os::wait_readable(process.get(), context);
  }
  if (!taken) {
    (void)process.signal(SIGKILL);
  }
  output.status = status_of(process);
  if (!taken) {
    return std::unexpected(std::move(taken).error());
  }
  return output;
}

std::string first_complaint(std::string_view text) {
  std::string first;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    bool error = false;
    for (const std::string_view before : {"docker: ", "Error: ", "Error response from daemon: "}) {
      if (line.starts_with(before)) {
        line.remove_prefix(before.size());
        error = true;
      }
    }
    if (error) {
      return std::string(line.substr(0, kMaxComplaint));
    }
    if (first.empty() && !line.starts_with("time=")) {
      first = line.substr(0, kMaxComplaint);
    }
  }
  return first;
}

}  // namespace bawn::container
