#include "shared_place.hpp"

#include "read_back.hpp"
#include "run_arguments.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bawn::container {
namespace {

/// Who commands of this spec are on the host.
std::pair<std::uint32_t, std::uint32_t> host_ids(const PlaceSpec& spec, bool rootless) {
  return rootless ? std::pair<std::uint32_t, std::uint32_t>{::geteuid(), ::getegid()}
                  : std::pair{*spec.uid, *spec.gid};
}

}  // namespace

Result<> SharedPlace::start(const contract::Context& context) {
  mounts_ = BAWN_TRY(hold_mounts(spec_.mounts, setup_.bounds.workspace));
  directory_ =
      std::make_unique<PlaceDirectory>(BAWN_TRY(PlaceDirectory::make(setup_.state_dir, id_)));
  BAWN_TRY(record(context));
  return run_engine(context);
}

Result<> SharedPlace::run_engine(const contract::Context& context) {
  auto room = BAWN_TRY(WaitingRoom::open(socket_of(directory_->path())));
  RunSetup run = own_setup(engine().address().kind, setup_.version.rootless, id_);
  run.directory = directory_->path();
  run.warden = warden_program_;
  std::vector<std::string> words = engine().address().options;
  std::ranges::move(run_arguments(spec_, mounts_, run), std::back_inserter(words));
  command_ = BAWN_TRY(EngineCommand::start(engine().address().command, std::move(words),
                                           engine().environment(), os::UniqueFd()));
  started_ = true;
  auto visitor = BAWN_TRY(room.await(context, command_.process()));
  if (!visitor) {
    return std::unexpected(explain(context, command_.complaints()));
  }
  return take_over(context, *std::move(visitor));
}

Result<> SharedPlace::take_over(const contract::Context& context, Visitor visitor) {
  if (visitor.pid <= 0) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("{} runs its containers where this process cannot see them; bawn must run "
                    "beside the engine, not in a container of its own",
                    engine().name()));
  }
  const int pid = visitor.pid;
  BAWN_TRY(check_mounted(mounts_, pid));
  share_temporary(temporary_places(spec_), pid);
  facts_ = read_back(pid);
  sandbox::SessionPlan nothing;
  nothing.uid = *spec_.uid;
  nothing.gid = *spec_.gid;
  auto process = BAWN_TRY(os::Pidfd::open(pid));
  main_ = BAWN_TRY(sandbox::hand_plan(
      {.stream = std::move(visitor.stream), .pid = pid, .child = std::move(process)}, nothing));
  BAWN_TRY(learn(context));
  forecast_ = BAWN_TRY(sandbox::plan_inside(sandbox::assume_features(),
                                            inside(directory_->path() + "/sessions/x")))
                  .forecast;
  return {};
}

Result<std::shared_ptr<shell::Session>> SharedPlace::start_session(shell::SessionConfig config) {
  if (!alive()) {
    return contract::fail(
        ErrorCode::Closed,
        fmt::format("the container {} is gone; open it again with container_open", spec_.name));
  }
  BAWN_TRY(directory_->check_untouched());
  const auto [uid, gid] = host_ids(spec_, setup_.version.rootless);
  const std::string directory =
      BAWN_TRY(shell::Session::prepare_directory(directory_->path(), uid, gid));
  BAWN_TRY(directory_->check_untouched());
  auto warden = BAWN_TRY(
      start_warden(sandbox::assume_features(), directory, [this](const sandbox::SessionPlan& plan) {
        return sandbox::start_beside(*main_, kWardenInside, plan, "place." + random_word(16));
      }));
  config.policy = sandbox::inside_policy(inside(directory));
  config.workspace = spec_.workspace;
  config.state_dir = directory_->path();
  return shell::Session::start_inside(std::move(config), directory, std::move(warden),
                                      environment_);
}

Result<> SharedPlace::end(const contract::Context& context) {
  constexpr std::chrono::seconds kLimit{5};
  if (main_ != nullptr) {
    main_->close();
  }
  const bool ended = command_.end(kLimit);
  Result<> removed;
  if (started_ && !foreign_) {
    // Its own --rm did it, as a rule; and an engine that did not get so far does it now.
    removed = remove_labelled(context);
  }
  if (!ended && !command_.end(kLimit)) {
    command_.kill();
  }
  if (directory_ != nullptr) {
    directory_->remove();
  }
  return removed;
}

}  // namespace bawn::container
