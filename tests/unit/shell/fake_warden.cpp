#include "fake_warden.hpp"

#include "bawn/os/event_fd.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/os/unique_fd.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace bawn::test {

namespace {

constexpr int kGoFd = 9;

std::string marker_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  std::string entry;
  while (std::getline(file, entry, '\0')) {
    if (entry.starts_with("BAWN_CALL=")) {
      return entry.substr(10);
    }
  }
  return {};
}

/// A child between fork and exec still has this program's name; it belongs to nobody yet.
std::string own_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

sandbox::ProcessInfo describe(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  sandbox::ProcessInfo info;
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (close == std::string::npos) {
    return info;
  }
  info.pid = info.inside_pid = pid;
  info.name = line.substr(open + 1, close - open - 1);
  std::istringstream rest(line.substr(close + 2));
  std::string skipped;
  rest >> info.state >> info.parent >> info.pgid >> info.sid;
  for (int field = 7; field < 22; ++field) {
    rest >> skipped;
  }
  rest >> info.start_time;
  info.call = marker_of(pid);
  return info;
}

}  // namespace

class FakeChild final : public sandbox::Child {
 public:
  FakeChild(int pid, os::UniqueFd go)
      : go_(std::move(go)), event_(*os::EventFd::make()), pidfd_(*os::Pidfd::open(pid)) {
    start_ = os::start_time(pid).value_or(0);
    waiter_ = std::thread([this, pid] { wait_for_end(pid); });
  }
  ~FakeChild() override {
    if (!status()) {
      go_.reset();
      std::ignore = pidfd_.signal(SIGKILL);
    }
    waiter_.join();
  }
  [[nodiscard]] int pid() const noexcept override { return pidfd_.pid(); }
  [[nodiscard]] int inside_pid() const noexcept override { return pidfd_.pid(); }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return start_; }
  [[nodiscard]] int pidfd() const noexcept override { return pidfd_.get(); }
  [[nodiscard]] contract::Result<> go() override {
    // A socket, because a pipe would raise SIGPIPE when the child was killed meanwhile.
    if (send(go_.get(), "\n", 1, MSG_NOSIGNAL) != 1) {
      return contract::fail(contract::ErrorCode::Closed, "the child is gone");
    }
    go_.reset();
    return {};
  }
  [[nodiscard]] contract::Result<sandbox::ExitStatus> wait(
      const contract::Context& context) override {
    std::unique_lock lock(mutex_);
    if (!ended_.wait(lock, context.stop_token(), [&] { return status_.has_value(); })) {
      return contract::fail(contract::ErrorCode::Cancelled, "cancelled");
    }
    return *status_;
  }
  [[nodiscard]] std::optional<sandbox::ExitStatus> status() const override {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  [[nodiscard]] int exit_event() const noexcept override { return event_.get(); }

 private:
  void wait_for_end(int pid) {
    int word = 0;
    rusage used{};
    while (wait4(pid, &word, 0, &used) < 0 && errno == EINTR) {
    }
    sandbox::ExitStatus status;
    if (WIFEXITED(word)) {
      status.code = WEXITSTATUS(word);
    } else {
      status.signal = WTERMSIG(word);
    }
    status.user_us = static_cast<std::uint64_t>(used.ru_utime.tv_sec) * 1'000'000U +
                     static_cast<std::uint64_t>(used.ru_utime.tv_usec);
    status.peak_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024U;
    {
      const std::lock_guard lock(mutex_);
      status_ = status;
    }
    ended_.notify_all();
    event_.signal();
  }

  os::UniqueFd go_;
  os::EventFd event_;
  os::Pidfd pidfd_;
  std::uint64_t start_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any ended_;
  std::optional<sandbox::ExitStatus> status_;
  std::thread waiter_;
};

std::shared_ptr<FakeWarden> FakeWarden::make() {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  auto warden = std::shared_ptr<FakeWarden>(new FakeWarden());
  warden->report_.policy = "none";
  return warden;
}

FakeWarden::~FakeWarden() {
  close();
}

int FakeWarden::pid() const noexcept {
  return getpid();
}
std::uint64_t FakeWarden::start_time() const noexcept {
  return os::start_time(getpid()).value_or(0);
}

contract::Result<std::unique_ptr<sandbox::Child>> FakeWarden::spawn(sandbox::SpawnSpec spec) {
  return boost::asio::post(parent_, boost::asio::use_future([&] { return start(spec); })).get();
}

contract::Result<std::unique_ptr<sandbox::Child>> FakeWarden::start(
    const sandbox::SpawnSpec& spec) {
  ++spawns;
  if (!alive_) {
    return contract::fail(contract::ErrorCode::Closed, "the warden is gone");
  }
  if (spec.writable_only) {
    return contract::fail(contract::ErrorCode::Unsupported, "there is no Landlock here");
  }
  os::SocketPair go = BAWN_TRY(os::SocketPair::make());
  // The shell keeps its pid over exec, so the pid is known while it still waits for the go.
  // Nothing walls it here, so it ends with this program, and takes no more memory than any test
  // needs.
  std::vector<std::string> argv = {"/bin/sh", "-c",
                                   "ulimit -d 1000000; read -r go <&9 || exit 125; exec 9<&-; "
                                   "exec setpriv --pdeathsig KILL -- \"$@\"",
                                   "sh"};
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  std::vector<std::string> env = spec.env;
  std::erase_if(env, [](const std::string& entry) { return entry.starts_with("BAWN_CALL="); });
  env.push_back("BAWN_CALL=" + spec.call);
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> list;
    for (std::string& one : strings) {
      list.push_back(one.data());
    }
    list.push_back(nullptr);
    return list;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, spec.cwd.c_str());
  const std::pair<const os::UniqueFd*, int> standard[] = {
      {&spec.standard_input, 0}, {&spec.standard_output, 1}, {&spec.standard_error, 2}};
  for (const auto& [fd, number] : standard) {
    if (fd->is_open()) {
      posix_spawn_file_actions_adddup2(&actions, fd->get(), number);
    } else {
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0);
    }
  }
  // Opened by a session's leader without O_NOCTTY, it becomes the controlling terminal.
  const std::string terminal = "/proc/self/fd/0";
  if (spec.controlling_terminal) {
    // Not over 0 itself: that is closed before the path is opened.
    posix_spawn_file_actions_addopen(&actions, kGoFd, terminal.c_str(), O_RDWR, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, go.far.get(), kGoFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(spec.new_session || spec.controlling_terminal ? POSIX_SPAWN_SETSID
                                                                       : POSIX_SPAWN_SETPGROUP));
  int pid = 0;
  auto argv_pointers = pointers(argv);
  auto env_pointers = pointers(env);
  const int failed = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv_pointers.data(),
                                 env_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return std::unexpected(contract::Error::from_errno(failed, "posix_spawn", "cannot start"));
  }
  {
    const std::lock_guard lock(mutex_);
    started_[pid] = spec.call;
  }
  return std::unique_ptr<sandbox::Child>(new FakeChild(pid, std::move(go.near)));
}

contract::Result<int> FakeWarden::signal(const sandbox::SignalTarget& target, int number) {
  ++signals;
  using Kind = sandbox::SignalTarget::Kind;
  if (target.kind == Kind::Process) {
    return kill(target.id, number) == 0 ? 1 : 0;
  }
  if (target.kind == Kind::Group) {
    return kill(-target.id, number) == 0 ? 1 : 0;
  }
  std::map<int, sandbox::ProcessInfo> all;
  for (const int pid : os::descendants(getpid())) {
    sandbox::ProcessInfo info = describe(pid);
    if (info.pid != 0 && info.name != own_name() && info.state != 'Z') {
      all.emplace(pid, std::move(info));
    }
  }
  int reached = 0;
  for (const auto& [pid, info] : all) {
    const bool meant = target.kind == Kind::Session || is_of_call(info, target, all);
    if (meant && pid != target.keep_pid && kill(pid, number) == 0) {
      ++reached;
    }
  }
  return reached;
}

bool FakeWarden::has_child_of_call(const std::string& call, int except) {
  const std::lock_guard lock(mutex_);
  return std::any_of(started_.begin(), started_.end(), [&](const auto& child) {
    return child.first != except && child.second == call && describe(child.first).pid != 0;
  });
}

/// The rules of sandbox/warden/owners.hpp.
bool FakeWarden::is_of_call(const sandbox::ProcessInfo& process,
                            const sandbox::SignalTarget& target,
                            const std::map<int, sandbox::ProcessInfo>& all) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto started = started_.find(process.pid); started != started_.end()) {
      return started->second == target.call;
    }
  }
  if (process.call == target.call) {
    return true;
  }
  if (process.start_time < target.not_before) {
    return false;
  }
  const auto parent = all.find(process.parent);
  if (parent != all.end() && process.parent != target.keep_pid) {
    return is_of_call(parent->second, target, all);
  }
  const auto session = [](const std::string& call) { return call.substr(0, call.rfind('.')); };
  const auto number = [](const std::string& call) {
    return std::strtoul(call.c_str() + call.rfind('.') + 1, nullptr, 10);
  };
  if (process.call.find('.') == std::string::npos ||
      session(process.call) != session(target.call)) {
    return true;
  }
  const bool first_tick = process.start_time == target.not_before && number(process.call) > 0 &&
                          number(process.call) < number(target.call);
  return target.keep_pid != 0 && !first_tick && !has_child_of_call(process.call, target.keep_pid);
}

contract::Result<std::vector<sandbox::ProcessInfo>> FakeWarden::tree() {
  ++trees;
  std::vector<sandbox::ProcessInfo> all;
  for (const int pid : os::descendants(getpid())) {
    sandbox::ProcessInfo info = describe(pid);
    if (info.pid != 0 && info.name != own_name()) {
      all.push_back(std::move(info));
    }
  }
  return all;
}

void FakeWarden::close() {
  if (!alive_.exchange(false)) {
    return;
  }
  for (int round = 0; round < 100; ++round) {
    bool found = false;
    for (const int pid : os::descendants(getpid())) {
      if (describe(pid).state != 'Z' && kill(pid, SIGKILL) == 0) {
        found = true;
      }
    }
    if (!found) {
      return;
    }
  }
}

}  // namespace bawn::test
