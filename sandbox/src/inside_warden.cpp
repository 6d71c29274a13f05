#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/sandbox/inside.hpp"
#include "warden_client.hpp"
#include "warden_launch.hpp"
#include "wire_encode.hpp"

#include <array>
#include <utility>

namespace bawn::sandbox {
namespace {

/// An engine takes its time to remove a container.
constexpr std::chrono::milliseconds kEngineLimit{15000};

Result<> send_plan(WardenLink& link, const SessionPlan& plan, int pid) {
  const std::string blob = BAWN_TRY(wire::encode_plan(plan, 0, 0));
  const os::UniqueFd memory = BAWN_TRY(os::sealed_memfd("bawn-plan", blob));
  wire::Writer number;
  number.u32(static_cast<std::uint32_t>(pid));
  const std::array<int, 1> fds = {memory.get()};
  return link.tell(wire::Type::Plan, number.data(), fds);
}

Result<Launched> take_over(WaitingWarden waiting, const SessionPlan& plan) {
  Launched launched;
  launched.child = std::move(waiting.child);
  launched.close_limit = kEngineLimit;
  launched.link = std::make_shared<WardenLink>(std::move(waiting.stream));
  BAWN_TRY(send_plan(*launched.link, plan, waiting.pid));
  BAWN_TRY(take_ready(launched, plan));
  const auto numbers = BAWN_TRY(os::namespace_pids(waiting.pid));
  launched.other_numbers = numbers.size() > 1;
  return launched;
}

}  // namespace

Result<std::shared_ptr<Warden>> hand_plan(WaitingWarden waiting, const SessionPlan& plan) {
  Launched launched = BAWN_TRY(take_over(std::move(waiting), plan));
  return serve_with(std::move(launched), plan.files);
}

Result<std::shared_ptr<Warden>> start_beside(Warden& first, const std::string& program,
                                             const SessionPlan& plan, const std::string& marker) {
  os::SocketPair stream = BAWN_TRY(os::SocketPair::make());
  SpawnSpec spec;
  spec.argv = {program, "--beside"};
  spec.cwd.assign(1, '/');  // GCC 12 warns of an assignment of "/" (its bug 105651)
  spec.standard_input = std::move(stream.far);
  spec.call = marker;
  spec.new_session = true;
  const auto child = BAWN_TRY(first.spawn(std::move(spec)));
  auto held = BAWN_TRY(os::Pidfd::open(child->pid()));
  BAWN_TRY(child->go());
  auto warden = hand_plan(
      {.stream = std::move(stream.near), .pid = child->pid(), .child = std::move(held)}, plan);
  if (!warden) {
    if (const auto status = child->status(); status && status->exec_errno != 0) {
      return std::unexpected(Error::from_errno(status->exec_errno, "execve",
                                               "cannot start the session's warden inside"));
    }
    SignalTarget rest;
    rest.kind = SignalTarget::Kind::Call;
    rest.call = marker;
    (void)first.signal(rest, 9);
  }
  return warden;
}

}  // namespace bawn::sandbox
