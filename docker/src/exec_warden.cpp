#include "exec_warden.hpp"

#include "bawn/os/poll.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace bawn::container {
namespace {

class ExecChild final : public sandbox::Child {
 public:
  explicit ExecChild(std::shared_ptr<ExecRun> run) : run_(std::move(run)) {}
  [[nodiscard]] int pid() const noexcept override { return run_->pid(); }
  [[nodiscard]] int inside_pid() const noexcept override { return run_->pid(); }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return run_->start_time(); }
  [[nodiscard]] int pidfd() const noexcept override { return -1; }
  [[nodiscard]] Result<> go() override { return run_->go(); }
  [[nodiscard]] Result<sandbox::ExitStatus> wait(const contract::Context& context) override {
    BAWN_TRY(os::wait_readable(run_->ended(), context));
    const auto status = run_->status();
    return status ? Result<sandbox::ExitStatus>(*status)
                  : contract::fail(ErrorCode::Closed,
                                   "the engine's exec ended without the command's status");
  }
  [[nodiscard]] std::optional<sandbox::ExitStatus> status() const override {
    return run_->status();
  }
  [[nodiscard]] int exit_event() const noexcept override { return run_->ended(); }

 private:
  std::shared_ptr<ExecRun> run_;
};

const char* name_of(int signal) {
  switch (signal) {
    case SIGINT:
      return "INT";
    case SIGTERM:
      return "TERM";
    case SIGKILL:
      return "KILL";
    case SIGCONT:
      return "CONT";
    default:
      return nullptr;
  }
}

bool is_meant(const sandbox::SignalTarget& target, const OwnedProcess& one) {
  using Kind = sandbox::SignalTarget::Kind;
  switch (target.kind) {
    case Kind::Group:
      return one.process.pgid == target.id;
    case Kind::Process:
      return one.process.pid == target.id;
    case Kind::Call:
      return one.call == target.call;
    case Kind::Session:
      return true;
  }
  return false;
}

}  // namespace

std::vector<OwnedProcess> owned_processes(std::string_view listed,
                                          std::map<int, SessionLeader> leaders) {
  std::vector<OwnedProcess> all;
  while (!listed.empty()) {
    const std::string_view line = listed.substr(0, listed.find('\n'));
    listed.remove_prefix(std::min(line.size() + 1, listed.size()));
    const std::size_t bar = line.find('|');
    auto process = bar == std::string_view::npos ? std::nullopt : process_of(line.substr(bar + 1));
    if (!process || process->state == 'Z' || process->state == 'X') {
      continue;
    }
    OwnedProcess one{.process = *std::move(process), .run = 0, .call = {}};
    std::from_chars(line.data(), line.data() + bar, one.run);
    if (const auto leader = leaders.find(one.process.pid);
        leader != leaders.end() && leader->second.start_time != one.process.start_time) {
      leaders.erase(leader);  // the kernel gave the number out again: the session was empty
    }
    all.push_back(std::move(one));
  }
  for (OwnedProcess& one : all) {
    if (const auto leader = leaders.find(one.process.sid);
        one.run == 0 && leader != leaders.end()) {
      one.run = leader->second.run;
    }
  }
  // Children of what is known, until nothing is new: /proc is in no order.
  std::map<int, std::uint64_t> known;
  for (bool more = true; more;) {
    more = false;
    for (OwnedProcess& one : all) {
      if (const auto parent = known.find(one.process.parent);
          one.run == 0 && parent != known.end()) {
        one.run = parent->second;
      }
      more = (one.run != 0 && known.emplace(one.process.pid, one.run).second) || more;
    }
  }
  std::erase_if(all, [](const OwnedProcess& one) { return one.run == 0; });
  return all;
}

ExecWarden::ExecWarden(ExecRoute route, std::string mark, std::shared_ptr<ExecControl> control,
                       contract::Confinement report)
    : route_(std::move(route)),
      mark_(std::move(mark)),
      control_(std::move(control)),
      report_(std::move(report)) {}

std::vector<std::shared_ptr<ExecRun>> ExecWarden::take_ended() {
  std::vector<std::shared_ptr<ExecRun>> ended;
  for (auto& [number, run] : runs_) {
    if (run.run != nullptr && run.run->done() && run.run.use_count() == 1) {
      ended.push_back(std::move(run.run));
    }
  }
  return ended;
}

Result<std::unique_ptr<sandbox::Child>> ExecWarden::spawn(sandbox::SpawnSpec spec) {
  if (spec.controlling_terminal || spec.remote_terminal) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("a terminal needs bawn's warden, which cannot run in {}; "
                                      "leave \"terminal\" out",
                                      route_.container));
  }
  if (spec.writable_only) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("nothing holds a call that may change nothing in {}, where "
                                      "bawn's warden cannot run; leave \"read_only\" out",
                                      route_.container));
  }
  std::uint64_t number = 0;
  std::vector<std::shared_ptr<ExecRun>> ended;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return contract::fail(ErrorCode::Closed, "the session is closed");
    }
    ended = take_ended();
    number = ++last_;
    runs_[number].call = spec.call;
  }
  auto run = ExecRun::begin(route_, spec, mark_ + std::to_string(number));
  const std::lock_guard lock(mutex_);
  if (!run || closed_) {
    runs_.erase(number);
    return run ? contract::fail(ErrorCode::Closed, "the session is closed")
               : Result<std::unique_ptr<sandbox::Child>>(std::unexpected(run.error()));
  }
  runs_[number] = {.run = *run,
                   .call = std::move(spec.call),
                   .pid = (*run)->pid(),
                   .start_time = (*run)->start_time(),
                   .leads = (*run)->leads()};
  return std::make_unique<ExecChild>(*std::move(run));
}

Result<std::vector<OwnedProcess>> ExecWarden::list(const contract::Context& context) {
  const std::string listed = BAWN_TRY(control_->ask(context, "b_list"));
  const std::lock_guard lock(mutex_);
  std::map<int, SessionLeader> leaders;
  std::set<std::pair<int, std::uint64_t>> shells;
  for (const auto& [number, run] : runs_) {
    shells.emplace(run.pid, run.start_time);
    if (run.leads) {
      leaders[run.pid] = {.run = number, .start_time = run.start_time};
    }
  }
  std::vector<OwnedProcess> found = owned_processes(listed, leaders);
  std::set<std::uint64_t> seen;
  for (OwnedProcess& one : found) {
    seen.insert(one.run);
    const auto run = runs_.find(one.run);
    one.call = run == runs_.end() ? std::string() : run->second.call;
  }
  // One that has ended and left nothing is over; its number may be another process's soon.
  std::erase_if(runs_, [&](const auto& run) {
    return run.second.pid != 0 && run.second.run == nullptr && !seen.contains(run.first);
  });
  std::erase_if(found, [&](const OwnedProcess& one) {
    return shells.contains({one.process.pid, one.process.start_time});
  });
  return found;
}

Result<std::vector<sandbox::ProcessInfo>> ExecWarden::tree() {
  std::vector<sandbox::ProcessInfo> processes;
  for (OwnedProcess& one : BAWN_TRY(list(contract::Context()))) {
    sandbox::ProcessInfo info;
    info.pid = one.process.pid;
    info.inside_pid = one.process.pid;
    info.parent = one.process.parent;
    info.pgid = one.process.pgid;
    info.sid = one.process.sid;
    info.start_time = one.process.start_time;
    info.state = one.process.state;
    info.name = std::move(one.process.name);
    info.call = std::move(one.call);
    processes.push_back(std::move(info));
  }
  return processes;
}

Result<int> ExecWarden::signal(const sandbox::SignalTarget& target, int signal) {
  const char* const name = name_of(signal);
  if (name == nullptr) {
    return contract::fail(ErrorCode::InvalidArgument, "no such signal is sent there");
  }
  // Killed processes may have forked before: so until nothing is found.
  constexpr int kRounds = 8;
  int reached = 0;
  for (int round = 0; round < (signal == SIGKILL ? kRounds : 1); ++round) {
    std::string line = fmt::format("b_kill {}", name);
    bool any = false;
    // Parents before children: a shell whose command ends first goes on to its next one.
    auto all = BAWN_TRY(list(contract::Context()));
    std::ranges::sort(all, {}, [](const OwnedProcess& one) {
      return std::pair(one.process.start_time, one.process.pid);
    });
    for (const OwnedProcess& one : all) {
      if (one.process.pid != target.keep_pid && is_meant(target, one)) {
        line += fmt::format(" {}:{}", one.process.pid, one.process.start_time);
        any = true;
      }
    }
    if (!any) {
      break;
    }
    const std::string count = BAWN_TRY(control_->ask(contract::Context(), line));
    int hit = 0;
    std::from_chars(count.data(), count.data() + count.size(), hit);
    reached += hit;
  }
  return reached;
}

Result<std::shared_ptr<sandbox::FileAgent>> ExecWarden::file_agent() {
  return contract::fail(ErrorCode::Unsupported,
                        fmt::format("bawn's warden cannot run in {}, so the file tools do not "
                                    "reach its files; use bash or exec there",
                                    route_.container));
}

std::vector<os::UniqueFd> ExecWarden::watch(
    const std::vector<sandbox::ProcessInfo>& /*processes*/) {
  return {};
}

void ExecWarden::close() {
  std::map<std::uint64_t, Run> runs;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    runs.swap(runs_);
  }
  control_->close();
  for (auto& [number, run] : runs) {
    if (run.run != nullptr) {
      run.run->give_up();
      run.run->join();
    }
  }
}

}  // namespace bawn::container
