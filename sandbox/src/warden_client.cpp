#include "warden_client.hpp"

#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/sandbox/relay.hpp"
#include "file_client.hpp"
#include "spawn_request.hpp"
#include "warden_launch.hpp"
#include "wire_encode.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <unordered_map>

namespace bawn::sandbox {

namespace {

class StartedChild final : public Child {
 public:
  StartedChild(std::shared_ptr<WardenLink> link, std::shared_ptr<ChildState> state, os::Pidfd pidfd,
               int inside_pid, std::uint64_t start_time, os::UniqueFd go)
      : link_(std::move(link)),
        state_(std::move(state)),
        pidfd_(std::move(pidfd)),
        inside_pid_(inside_pid),
        start_time_(start_time),
        go_(std::move(go)) {}

  [[nodiscard]] int pid() const noexcept override { return pidfd_.pid(); }
  [[nodiscard]] int inside_pid() const noexcept override { return inside_pid_; }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return start_time_; }
  [[nodiscard]] int pidfd() const noexcept override { return pidfd_.get(); }
  [[nodiscard]] int exit_event() const noexcept override {
    return link_->reads_by_waiting() ? link_->descriptor() : state_->event();
  }
  [[nodiscard]] std::optional<ExitStatus> status() const override {
    if (link_->reads_by_waiting()) {
      link_->take_pending();
    }
    return state_->status();
  }

  [[nodiscard]] Result<> go() override {
    if (!go_.is_open()) {
      return contract::fail(ErrorCode::AlreadyExists, "the child was let go before");
    }
    // A socket, because a pipe would raise SIGPIPE here when the child was killed meanwhile. That
    // is no error of ours: its status says so.
    (void)::send(go_.get(), "g", 1, MSG_NOSIGNAL);
    go_.reset();
    return {};
  }

  [[nodiscard]] Result<ExitStatus> wait(const contract::Context& context) override {
    while (!status() && !state_->lost()) {
      BAWN_TRY(os::wait_readable(exit_event(), context));
    }
    if (const auto status = state_->status()) {
      return *status;
    }
    return contract::fail(ErrorCode::Closed,
                          "the session's warden is gone, and with it the child's exit status");
  }

 private:
  std::shared_ptr<WardenLink> link_;
  std::shared_ptr<ChildState> state_;
  os::Pidfd pidfd_;
  int inside_pid_;
  std::uint64_t start_time_;
  os::UniqueFd go_;
};

/// The child says through its go socket whether it could enter its working directory. It does that
/// itself, since a directory on a dead mount would keep the warden from everything else.
///
/// `listener` gets the seccomp listener that came along, if any.
///
/// Errors: what chdir(2) gave; DeadlineExceeded.
Result<> await_directory(const os::UniqueFd& go, os::UniqueFd& listener) {
  const auto context =
      contract::Context().with_deadline(contract::Context::Clock::now() + kAnswerLimit);
  if (!os::wait_readable(go.get(), context)) {
    return contract::fail(
        ErrorCode::DeadlineExceeded,
        fmt::format("its working directory could not be entered within {} ms; the file system may "
                    "not answer",
                    kAnswerLimit.count()));
  }
  std::int32_t errnum = 0;
  iovec part{&errnum, sizeof errnum};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  // Nothing to read: it was killed or could not be set up. Its exit status says so.
  const ssize_t count = ::recvmsg(go.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (const cmsghdr* const given = CMSG_FIRSTHDR(&message);
      count > 0 && given != nullptr && given->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(given), sizeof fd);
    listener.reset(fd);
  }
  if (count == sizeof errnum && errnum != 0) {
    return std::unexpected(directory_error(errnum));
  }
  return {};
}

class WardenClient final : public Warden {
 public:
  WardenClient(Launched launched, FilePlan files)
      : launched_(std::move(launched)), file_plan_(std::move(files)) {}
  ~WardenClient() override { close(); }
  WardenClient(const WardenClient&) = delete;
  WardenClient& operator=(const WardenClient&) = delete;

  [[nodiscard]] const contract::Confinement& report() const noexcept override {
    return launched_.report;
  }
  [[nodiscard]] int pid() const noexcept override { return launched_.warden.pid(); }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return launched_.start_time; }
  [[nodiscard]] std::uint64_t pid_namespace() const noexcept override {
    return launched_.pid_namespace;
  }
  [[nodiscard]] std::shared_ptr<Egress> egress() const override { return launched_.egress; }
  [[nodiscard]] std::string cgroup() const override {
    return launched_.cgroup != nullptr ? launched_.cgroup->path() : std::string();
  }
  [[nodiscard]] bool alive() const noexcept override {
    if (launched_.link->reads_by_waiting()) {
      launched_.link->take_pending();
    }
    return launched_.link->alive();
  }

  [[nodiscard]] Result<std::unique_ptr<Child>> spawn(SpawnSpec spec) override {
    const std::string payload = BAWN_TRY(encode_spawn(spec));
    os::SocketPair go = BAWN_TRY(os::SocketPair::make());
    std::vector<int> fds;
    for (const os::UniqueFd* fd :
         {&spec.standard_input, &spec.standard_output, &spec.standard_error, &go.far}) {
      if (fd->is_open()) {
        fds.push_back(fd->get());
      }
    }
    auto state = std::make_shared<ChildState>(BAWN_TRY(os::EventFd::make()));
    auto answer = launched_.link->ask_spawn(payload, fds, state);
    go.far.reset();  // or the end of a child that never gets to its go would not be seen
    if (!answer) {
      return std::unexpected(explain_spawn(spec, std::move(answer).error()));
    }
    wire::Reader in(reinterpret_cast<const unsigned char*>(answer->payload.data()),
                    answer->payload.size());
    const int inside_pid = in.i32();
    // While these are looked up the child enters its directory. It may be gone by then because it
    // could not, which is the better thing to say.
    auto pidfd = os::Pidfd::adopt(std::move(answer->fd));
    const auto started = pidfd ? os::start_time(pidfd->pid()) : Result<std::uint64_t>(0);
    os::UniqueFd listener;
    if (auto placed = await_directory(go.near, listener); !placed) {
      return std::unexpected(explain_spawn(spec, std::move(placed).error()));
    }
    if (listener.is_open() && launched_.egress != nullptr) {
      launched_.egress->supervise(std::move(listener));
    }
    if (!pidfd || !started) {
      return std::unexpected(!pidfd ? std::move(pidfd).error() : started.error());
    }
    return std::make_unique<StartedChild>(launched_.link, std::move(state), *std::move(pidfd),
                                          inside_pid, *started, std::move(go.near));
  }

  [[nodiscard]] Result<int> signal(const SignalTarget& target, int signal) override {
    const std::string payload = BAWN_TRY(encode_signal(target, signal));
    const Frame answer = BAWN_TRY(launched_.link->ask(wire::Type::Signal, payload, {}));
    wire::Reader in(reinterpret_cast<const unsigned char*>(answer.payload.data()),
                    answer.payload.size());
    return in.i32();
  }

  [[nodiscard]] Result<std::vector<ProcessInfo>> tree() override;
  [[nodiscard]] Result<std::shared_ptr<FileAgent>> file_agent() override {
    const std::scoped_lock lock(closing_);
    if (closed_) {
      return contract::fail(ErrorCode::Closed, "the session is closed");
    }
    if (files_ == nullptr) {
      files_ = BAWN_TRY(make_file_agent(launched_.link, file_plan_));
    }
    return files_;
  }
  void close() override;
  void abandon() override;
  [[nodiscard]] const std::shared_ptr<WardenLink>& link() const noexcept { return launched_.link; }

 private:
  Launched launched_;
  FilePlan file_plan_;
  std::mutex closing_;
  std::shared_ptr<FileAgent> files_;
  bool closed_ = false;
};

/// Inside number -> host number of everything below the warden. A process may be in namespaces
/// further in: its number in the warden's is the one at the warden's depth.
std::unordered_map<int, int> host_numbers(int warden) {
  std::unordered_map<int, int> numbers;
  const auto own = os::namespace_pids(warden);
  if (!own || own->empty()) {
    return numbers;
  }
  const std::size_t depth = own->size();
  numbers.emplace(own->back(), warden);
  for (const int pid : os::descendants(warden)) {
    if (const auto all = os::namespace_pids(pid); all && all->size() >= depth) {
      numbers.emplace((*all)[depth - 1], pid);
    }
  }
  return numbers;
}

Result<std::vector<ProcessInfo>> WardenClient::tree() {
  const Frame answer = BAWN_TRY(launched_.link->ask(wire::Type::Tree, {}, {}));
  const auto numbers =
      launched_.other_numbers ? host_numbers(pid()) : std::unordered_map<int, int>{};
  const auto host = [&](int inside) {
    const auto found = numbers.find(inside);
    return !launched_.other_numbers ? inside : found == numbers.end() ? 0 : found->second;
  };
  std::vector<ProcessInfo> processes = BAWN_TRY(decode_tree(answer.payload));
  for (ProcessInfo& process : processes) {
    process.pid = host(process.inside_pid);
    process.parent = host(process.parent);
  }
  // Ended between the two looks: no host number any more.
  std::erase_if(processes, [](const ProcessInfo& process) { return process.pid == 0; });
  return processes;
}

/// True once the process is gone; waits for it at most that long.
bool gone_within(const os::Pidfd& process, std::chrono::milliseconds limit) {
  const auto context = contract::Context().with_deadline(contract::Context::Clock::now() + limit);
  return os::wait_readable(process.get(), context).has_value();
}

void WardenClient::close() {
  const std::chrono::milliseconds limit = launched_.close_limit;
  const std::scoped_lock lock(closing_);
  if (closed_) {
    return;
  }
  closed_ = true;
  launched_.link->shut_down();
  launched_.life.reset();
  if (!gone_within(launched_.child, limit)) {
    // A warden that does not react is killed. Without a PID namespace the stub must live on then:
    // it is the one to which the session's processes fall, and it ends them.
    (void)launched_.warden.signal(SIGKILL);
    if (!gone_within(launched_.child, limit) && launched_.pid_namespace != 0) {
      (void)launched_.child.signal(SIGKILL);
      (void)gone_within(launched_.child, limit);
    }
  }
  (void)launched_.child.reap();
  launched_.cgroup.reset();  // with what may still be in it
  launched_.link->lose();
}

void WardenClient::abandon() {
  if (launched_.pid_namespace == 0 || launched_.cgroup != nullptr) {
    close();
    return;
  }
  const std::scoped_lock lock(closing_);
  closed_ = true;
  launched_.link->shut_down();
  launched_.life.reset();
}

}  // namespace

Result<std::shared_ptr<Warden>> Warden::start(const SessionPlan& plan, const Options& options) {
  if (options.relay != nullptr) {
    return options.relay->start(plan);
  }
  return serve_with(BAWN_TRY(launch_warden(plan, options)), plan.files);
}

Result<std::shared_ptr<Warden>> serve_with(Launched launched, const FilePlan& files) {
  const bool forked = launched.life.is_open();
  auto warden =
      std::make_shared<WardenClient>(std::move(launched), files);  // ends it if reading fails
  if (forked) {
    warden->link()->read_by_waiting();
  } else {
    BAWN_TRY(start_reading(warden->link()));
  }
  return warden;
}

}  // namespace bawn::sandbox
