#include "bawn/sandbox/launch.hpp"

#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/sandbox/inside.hpp"
#include "frame_stream.hpp"
#include "scratch_directory.hpp"
#include "spawn_request.hpp"
#include "wall_plan.hpp"
#include "warden_launch.hpp"
#include "wire_encode.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <deque>
#include <mutex>

namespace bawn::sandbox {
namespace {

constexpr std::chrono::seconds kFrameLimit{30};

/// What must live as long as the command does.
struct Companion {
  os::Pidfd process;
  std::shared_ptr<Egress> egress;
  std::shared_ptr<const ScratchDirectory> scratch;
};

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

std::string directory_for(const LaunchSpec& spec, const std::string& workspace) {
  char here[PATH_MAX];
  if (!spec.cwd.empty()) {
    return spec.cwd;
  }
  const bool known = ::getcwd(here, sizeof here) != nullptr;
  return known && (workspace == here || std::string_view(here).starts_with(workspace + "/"))
             ? std::string(here)
             : workspace;
}

Result<os::UniqueFd> duplicate(int fd) {
  os::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy.is_open()) {
    return std::unexpected(Error::from_errno(errno, "fcntl", "cannot pass a standard stream on"));
  }
  return copy;
}

Result<SpawnSpec> request_of(const LaunchSpec& spec, const Policy& policy,
                             const SessionPlan& plan) {
  SpawnSpec request;
  request.argv = spec.argv;
  request.env =
      session_environment(policy, plan, spec.env ? std::vector<std::string>() : own_environment(),
                          plan.network.inside ? kInsideProxyPort : std::uint16_t{0});
  for (const std::string& entry : spec.env.value_or(std::vector<std::string>())) {
    const std::size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return contract::fail(ErrorCode::InvalidArgument,
                            "an environment entry is not of the form NAME=value");
    }
    std::erase_if(request.env, [&](const std::string& other) {
      return other.starts_with(std::string_view(entry).substr(0, equals + 1));
    });
    request.env.push_back(entry);
  }
  request.cwd = directory_for(spec, plan.workspace);
  request.standard_input = BAWN_TRY(duplicate(spec.standard_input));
  request.standard_output = BAWN_TRY(duplicate(spec.standard_output));
  request.standard_error = BAWN_TRY(duplicate(spec.standard_error));
  return request;
}

/// A stub and the stream on which it tells how far it got; ends it unless it is let go.
class Stub {
 public:
  static Result<Stub> start(const std::string& program, const SessionPlan& plan,
                            const SpawnSpec& request) {
    const std::string blob = BAWN_TRY(wire::encode_plan(plan, ::getpid(), 0));
    const os::UniqueFd plan_fd = BAWN_TRY(os::sealed_memfd("bawn-plan", blob));
    const std::string payload = BAWN_TRY(encode_spawn(request));
    const os::UniqueFd request_fd = BAWN_TRY(os::sealed_memfd("bawn-request", payload));
    os::SocketPair stream = BAWN_TRY(os::SocketPair::make());
    os::SpawnOptions options;
    options.program = program;
    options.argv = {"bawn-warden", "--exec"};
    options.fds = {{request.standard_input.get(), 0},   {request.standard_output.get(), 1},
                   {request.standard_error.get(), 2},   {plan_fd.get(), wire::kPlanFd},
                   {stream.far.get(), wire::kStreamFd}, {request_fd.get(), wire::kRequestFd}};
    options.from_lasting_thread = true;
    Stub stub;
    stub.process_ = BAWN_TRY(os::spawn(options));
    stub.stream_ = std::make_unique<FrameStream>(std::move(stream.near));
    return stub;
  }
  Stub(Stub&&) = default;
  Stub& operator=(Stub&&) = delete;
  ~Stub() {
    if (process_.is_open()) {
      (void)process_.signal(SIGKILL);
      process_.wait();
    }
  }

  /// The next frame in order; both may come at once.
  Result<Frame> next() {
    const auto context =
        contract::Context().with_deadline(contract::Context::Clock::now() + kFrameLimit);
    while (frames_.empty()) {
      BAWN_TRY(os::wait_readable(stream_->get(), context));
      const bool open =
          stream_->pump([this](Frame&& frame) { frames_.push_back(std::move(frame)); });
      if (!open && frames_.empty()) {
        return contract::fail(ErrorCode::Internal, "the command's stub ended before it had begun");
      }
    }
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }
  os::Pidfd let_go() { return std::exchange(process_, os::Pidfd()); }

 private:
  Stub() = default;
  os::Pidfd process_;
  std::unique_ptr<FrameStream> stream_;
  std::deque<Frame> frames_;
};

Error refusal(const LaunchSpec& spec, const Frame& frame) {
  wire::Reader in(reinterpret_cast<const unsigned char*>(frame.payload.data()),
                  frame.payload.size());
  const auto step = static_cast<wire::Step>(in.u32());
  return Error::from_errno(
      in.i32(), "execve",
      fmt::format("cannot start {:?}: {} failed", spec.argv.front(), wire::to_text(step)));
}

}  // namespace

struct CommandLauncher::State {
  Options options;
  std::mutex mutex;
  std::vector<Companion> companions;

  void keep(Companion companion) {
    const std::scoped_lock lock(mutex);
    std::erase_if(companions, [](const Companion& one) { return one.process.exited(); });
    companions.push_back(std::move(companion));
  }
  Result<LaunchedCommand> start_with(const KernelFeatures& features, const LaunchSpec& spec);
};

CommandLauncher::CommandLauncher(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
CommandLauncher::~CommandLauncher() = default;

Result<LaunchedCommand> CommandLauncher::State::start_with(const KernelFeatures& features,
                                                           const LaunchSpec& spec) {
  const std::string program = BAWN_TRY(find_warden_program(options.program));
  PlannedWall wall = BAWN_TRY(plan_wall(
      features,
      {.policy = options.policy, .workspace = options.workspace, .session_dir = {}, .warden = {}}));
  const SpawnSpec request = BAWN_TRY(request_of(spec, options.policy, wall.plan));
  Stub stub = BAWN_TRY(Stub::start(program, wall.plan, request));
  Frame ready = BAWN_TRY(stub.next());
  if (ready.type != wire::Type::Ready) {
    return std::unexpected(setup_error(wall.plan, ready));
  }
  LaunchedCommand launched;
  launched.report = BAWN_TRY(confirm(wall.plan, ready));
  Companion companion;
  companion.scratch = std::move(wall.scratch);
  if (wall.plan.network.inside) {
    if (!ready.fd.is_open()) {
      return contract::fail(ErrorCode::Internal, "the command's warden brought no proxy socket");
    }
    companion.egress = BAWN_TRY(Egress::start(wall.plan.network, std::move(ready.fd), {}));
  }
  const Frame started = BAWN_TRY(stub.next());
  if (started.type != wire::Type::Executed) {
    return std::unexpected(refusal(spec, started));
  }
  companion.process = stub.let_go();
  launched.pid = companion.process.pid();
  launched.pidfd.reset(::fcntl(companion.process.get(), F_DUPFD_CLOEXEC, 3));
  if (!launched.pidfd.is_open()) {
    const int errnum = errno;
    (void)companion.process.signal(SIGKILL);
    companion.process.wait();
    return std::unexpected(Error::from_errno(errnum, "fcntl", "cannot hold the command"));
  }
  if (companion.egress != nullptr || companion.scratch != nullptr) {
    keep(std::move(companion));
  }
  return launched;
}

Result<LaunchedCommand> CommandLauncher::start(const LaunchSpec& spec) {
  if (spec.argv.empty()) {
    return contract::fail(ErrorCode::InvalidArgument, "the command is empty");
  }
  return with_features([&](KernelFeatures features) {
    features.seccomp_notify = {.available = false,
                               .reason = "a launched command has nobody who supervises it"};
    features.cgroup_v2 = {.available = false,
                          .reason = "a launched command has nobody who removes it"};
    return state_->start_with(features, spec);
  });
}

}  // namespace bawn::sandbox
