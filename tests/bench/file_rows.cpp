// A file through the session's file agent beside the same system calls in this process.
#include "bawn/sandbox/file_agent.hpp"
#include "bawn/sandbox/wall.hpp"
#include "groups.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <utility>

namespace bawn::bench {
namespace {

using contract::Context;
using contract::Error;
using contract::Result;

constexpr std::size_t kSize = 1U << 20U;

std::unexpected<Error> failed(const char* call) {
  return std::unexpected(Error::from_errno(errno, call, "the floor's file"));
}

Result<> read_all(int fd) {
  static char buffer[128U << 10U];
  ssize_t count = 0;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0) {
  }
  if (count < 0) {
    return failed("read");
  }
  return {};
}

Result<> write_all(int fd, const std::string& text) {
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return failed("write");
  }
  return {};
}

Result<> bare_open(const std::string& path, bool read) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) {
    return failed("open");
  }
  return read ? read_all(fd.get()) : Result<>();
}

Result<> bare_write(const std::string& directory, const std::string& text, bool durable) {
  const std::string made = directory + "/new";
  const os::UniqueFd fd(::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.is_open()) {
    return failed("open");
  }
  BAWN_TRY(write_all(fd.get(), text));
  if ((durable && ::fsync(fd.get()) != 0) ||
      ::rename(made.c_str(), (directory + "/bare").c_str()) != 0) {
    return failed("rename");
  }
  const os::UniqueFd parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !durable || ::fsync(parent.get()) == 0 ? Result<>() : failed("fsync");
}

Result<> agent_open(sandbox::FileAgent& files, const std::string& path, bool read) {
  const auto opened = BAWN_TRY(files.open(Context(), path));
  return read ? read_all(opened.fd.get()) : Result<>();
}

Result<> agent_write(sandbox::FileAgent& files, const std::string& path, const std::string& text,
                     bool durable) {
  auto staged = BAWN_TRY(files.stage(Context(), path, {}));
  BAWN_TRY(write_all(staged->fd(), text));
  (void)BAWN_TRY(staged->commit(Context(), {.durable = durable}));
  return {};
}

Result<std::pair<sandbox::Wall, std::shared_ptr<sandbox::FileAgent>>> session(const Setup& setup) {
  sandbox::WallRequest request;
  request.policy = BAWN_TRY(sandbox::preset("workspace-write"));
  request.workspace = setup.workspace;
  sandbox::Wall wall = BAWN_TRY(sandbox::raise_wall(request));
  auto files = BAWN_TRY(wall.warden->file_agent());
  return std::pair{std::move(wall), std::move(files)};
}

Case timed_case(std::string name, std::function<Result<>()> work, std::string floor = {}) {
  return {.name = std::move(name),
          .once = [work = std::move(work)] { return timed(work); },
          .floor = std::move(floor)};
}

}  // namespace

std::vector<Row> file_rows(const Setup& setup) {
  const auto inside = session(setup);
  if (!inside) {
    Row row;
    row.group = "files";
    row.name = "a session";
    row.failure = inside.error().message();
    return {row};
  }
  sandbox::FileAgent& files = *inside->second;
  const std::string text(kSize, 'x');
  const std::string file = setup.workspace + "/file";
  const std::string written = setup.workspace + "/written";
  std::ofstream(file) << text;
  ::chmod(file.c_str(), 0644);
  const std::string some = text.substr(0, 4096);
  std::vector<Case> cases;
  cases.push_back(timed_case("open(2)", [&] { return bare_open(file, false); }));
  cases.push_back(
      timed_case("open by the agent", [&] { return agent_open(files, file, false); }, "open(2)"));
  cases.push_back(timed_case("read(2) of 1 MiB", [&] { return bare_open(file, true); }));
  cases.push_back(timed_case(
      "1 MiB by the agent", [&] { return agent_open(files, file, true); }, "read(2) of 1 MiB"));
  cases.back().target = 1.3;
  cases.push_back(
      timed_case("4 KiB + rename", [&] { return bare_write(setup.workspace, some, false); }));
  cases.push_back(timed_case(
      "stage + commit, 4 KiB", [&] { return agent_write(files, written, some, false); },
      "4 KiB + rename"));
  cases.push_back(timed_case("1 MiB + fsync + rename",
                             [&] { return bare_write(setup.workspace, text, true); }));
  cases.back().every = 4;
  cases.push_back(timed_case(
      "stage + durable commit, 1 MiB", [&] { return agent_write(files, written, text, true); },
      "1 MiB + fsync + rename"));
  cases.back().every = 4;
  cases.back().target = 1.3;
  return measure("files", cases, setup.rounds_of(800));
}

}  // namespace bawn::bench
