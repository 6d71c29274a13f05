#include "copied_place.hpp"

#include "answer.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "command.hpp"
#include "exec_place.hpp"
#include "place_directory.hpp"
#include "read_back.hpp"
#include "run_arguments.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <utility>

namespace bawn::container {

Result<> CopiedPlace::start(const contract::Context& context) {
  return spec_.existing.empty() ? create(context) : join(context);
}

Result<std::string> CopiedPlace::ask(const contract::Context& context,
                                     std::vector<std::string> words, const std::string& input) {
  const EngineAddress& address = engine().address();
  words.insert(words.begin(), address.options.begin(), address.options.end());
  const CommandOutput output =
      BAWN_TRY(run_command(context, address.command, words, engine().environment(), input));
  if (output.status != 0) {
    return std::unexpected(explain(context, output.err));
  }
  return output.out;
}

Result<> CopiedPlace::create(const contract::Context& context) {
  BAWN_TRY(record(context));
  created_ = true;
  const RunSetup run = own_setup(engine().address().kind, setup_.version.rootless, id_);
  BAWN_TRY(ask(context, run_arguments(spec_, {}, run)));
  BAWN_TRY(ask(context, {"cp", warden_program_, fmt::format("{}:{}", spec_.name, kWardenInside)}));
  const auto connected = connect(context, {"start", "--attach", "--interactive", spec_.name});
  if (!connected && !foreign_ && connected.error().is(ErrorCode::Closed)) {
    if (hold(context)) {
      BAWN_TRY(fall_back(context, {ErrorCode::Unsupported,
                                   fmt::format("bawn's warden cannot run in a container of {}: {}",
                                               spec_.image, connected.error().message())}));
      return look(context);
    }
  }
  BAWN_TRY(connected);
  return look(context);
}

Result<> CopiedPlace::hold(const contract::Context& context) {
  constexpr std::chrono::seconds kLimit{5};
  if (!command_.end(kLimit)) {
    command_.kill();
  }
  BAWN_TRY(remove_labelled(context));
  RunSetup run = own_setup(engine().address().kind, setup_.version.rootless, id_);
  run.without_warden = true;
  BAWN_TRY(ask(context, run_arguments(spec_, {}, run)));
  const EngineAddress& address = engine().address();
  std::vector<std::string> words = address.options;
  words.insert(words.end(), {"start", "--attach", "--interactive", spec_.name});
  os::Pipe output = BAWN_TRY(os::Pipe::make());
  command_ = BAWN_TRY(EngineCommand::start(address.command, std::move(words),
                                           engine().environment(), output.write));
  output.write.reset();
  BAWN_TRY(os::wait_readable(output.read.get(), context));
  char line = 0;  // its word that it runs; at the end there is none
  return ::read(output.read.get(), &line, 1) == 1
             ? Result<>()
             : Result<>(std::unexpected(explain(context, command_.complaints())));
}

Result<> CopiedPlace::join(const contract::Context& context) {
  const auto found = BAWN_TRY(setup_.engine->inspect(context, spec_.existing));
  if (!found) {
    return contract::fail(
        ErrorCode::NotFound,
        fmt::format("{} knows no container {}", engine().name(), contract::quote(spec_.existing)));
  }
  const Json& running = value_at(*found, "/State/Running");
  if (!running.is_boolean() || !running.get<bool>()) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("the container {} does not run; start it with: {} start {}",
                                      spec_.existing, engine().name(), spec_.existing));
  }
  if (const auto reached = reach(context); !reached) {
    BAWN_TRY(fall_back(context, reached.error()));
  }
  return look(context);
}

Result<> CopiedPlace::reach(const contract::Context& context) {
  BAWN_TRY(deliver(context));
  auto words = exec_words();
  words.insert(words.end(), {copied_, "--pipes"});
  BAWN_TRY(connect(context, std::move(words)));
  spec_.uid = relay_->place().uid;
  spec_.gid = relay_->place().gid;
  return {};
}

Result<> CopiedPlace::fall_back(const contract::Context& context, const Error& refused) {
  if (!refused.is(ErrorCode::Unsupported) && !refused.is(ErrorCode::Closed)) {
    return std::unexpected(refused);
  }
  route_ = {.engine = setup_.engine, .container = container(), .options = {}};
  if (spec_.uid && !created_) {  // a container of ours has that user itself
    route_.options = {"--user", fmt::format("{}:{}", *spec_.uid, *spec_.gid)};
  }
  auto base = ExecControl::start(context, route_, random_word(22) + ".");
  if (!base) {
    return base.error().is(ErrorCode::Unsupported)
               ? contract::fail(ErrorCode::Unsupported,
                                fmt::format("{}; nor can single commands: {}", refused.message(),
                                            base.error().message()))
               : Result<>(std::unexpected(std::move(base).error()));
  }
  base_ = *std::move(base);
  weaker_ = refused.message();
  spec_.uid = base_->uid();
  spec_.gid = base_->gid();
  return {};
}

std::vector<std::string> CopiedPlace::exec_words() const {
  std::vector<std::string> words = {"exec", "--interactive"};
  if (spec_.uid) {
    words.insert(words.end(), {"--user", fmt::format("{}:{}", *spec_.uid, *spec_.gid)});
  }
  words.push_back(spec_.existing);
  return words;
}

Result<> CopiedPlace::deliver(const contract::Context& context) {
  const std::string name = ".bawn-" + id_;
  std::optional<Error> first;
  // Through a shell in there: the engine's own copying does not reach temporary file systems.
  for (const char* const folder : {"/tmp", "/var/tmp", "/dev/shm", "/run"}) {
    copied_ = fmt::format("{}/{}", folder, name);
    auto words = exec_words();
    words.insert(
        words.end(),
        {"sh", "-c",
         R"(umask 077 && cat >"$0" && chmod 0700 "$0" && { "$0"; [ $? -eq 2 ]; } || { rm -f "$0"; false; })",
         copied_});
    auto done = ask(context, std::move(words), warden_program_);
    if (done) {
      return {};
    }
    first = first ? first : std::move(done).error();
  }
  // An image without a shell: as the engine's own copy, which belongs to root.
  copied_ = "/" + name;
  if (ask(context, {"cp", warden_program_, fmt::format("{}:{}", spec_.existing, copied_)})) {
    // Without arguments it says how it is used, with this status.
    constexpr int kUsage = 2;
    std::vector<std::string> words = engine().address().options;
    const auto exec = exec_words();
    words.insert(words.end(), exec.begin(), exec.end());
    words.push_back(copied_);
    const CommandOutput tried =
        BAWN_TRY(run_command(context, engine().address().command, words, engine().environment()));
    if (tried.status == kUsage) {
      return {};
    }
    (void)ask(context, {"exec", "--user", "0", spec_.existing, "rm", "-f", copied_});
  }
  copied_.clear();
  return contract::fail(
      ErrorCode::Unsupported,
      fmt::format("bawn's warden cannot be put into {} and run there: {}; it needs a directory "
                  "that programs may be run from, and this machine's architecture",
                  spec_.existing, first->message()));
}

Result<> CopiedPlace::connect(const contract::Context& context, std::vector<std::string> words) {
  const EngineAddress& address = engine().address();
  words.insert(words.begin(), address.options.begin(), address.options.end());
  os::Pipe output = BAWN_TRY(os::Pipe::make());
  command_ = BAWN_TRY(EngineCommand::start(address.command, std::move(words),
                                           engine().environment(), output.write));
  output.write.reset();
  auto relay = sandbox::Relay::connect(command_.take_input(), std::move(output.read), context,
                                       sandbox::Relay::Options());
  if (relay) {
    relay_ = *std::move(relay);
    return {};
  }
  if (relay.error().is(ErrorCode::Closed) && command_.end(std::chrono::seconds(5))) {
    return std::unexpected(explain(context, command_.complaints()));
  }
  return std::unexpected(std::move(relay).error());
}

Result<> CopiedPlace::look(const contract::Context& context) {
  const Json found = BAWN_TRY(learn(context));
  facts_ = facts_of(found);
  if (!spec_.existing.empty()) {
    spec_.read_only_root = facts_.read_only_root;
    if (spec_.workspace.empty()) {
      const std::string directory = text_at(found, "/Config/WorkingDir");
      spec_.workspace = directory.starts_with('/') ? directory : "/";
    }
    writable_ = writable_places_of(found);
    spec_.network = text_at(found, "/HostConfig/NetworkMode") == "none" ? PlaceNetwork::None
                                                                        : PlaceNetwork::Bridge;
  }
  if (base_ != nullptr) {
    forecast_ = exec_report(facts_, inside("/"), created_, weaker_);
    return check_guarantees(forecast_, setup_.bounds, weaker_);
  }
  sandbox::KernelFeatures features = sandbox::assume_features();
  features.landlock_abi = relay_->place().landlock_abi;
  forecast_ = BAWN_TRY(sandbox::plan_inside(features, inside("/tmp/x"))).forecast;
  return {};
}

Result<std::shared_ptr<shell::Session>> CopiedPlace::start_session(shell::SessionConfig config) {
  if (!alive()) {
    return contract::fail(
        ErrorCode::Closed,
        fmt::format("the container {} is gone{}; open it again with container_open", spec_.name,
                    relay_ == nullptr ? "" : " (" + relay_->why_lost() + ")"));
  }
  if (base_ != nullptr) {
    config.policy = sandbox::inside_policy(inside("/"));
    config.workspace = spec_.workspace;
    config.state_dir = setup_.state_dir;
    return start_exec_session(std::move(config), route_, forecast_, "container:" + spec_.name,
                              environment_);
  }
  shell::Session::RemotePlace remote{.warden = {},
                                     .directory = {},
                                     .uid = *spec_.uid,
                                     .gid = *spec_.gid,
                                     .name = "container:" + spec_.name};
  remote.directory = BAWN_TRY(shell::Session::prepare_directory(*relay_, remote.uid, remote.gid));
  sandbox::KernelFeatures features = sandbox::assume_features();
  features.landlock_abi = relay_->place().landlock_abi;
  features.landlock_reason = "the kernel of that place has none";
  remote.warden = BAWN_TRY(
      start_warden(std::move(features), remote.directory,
                   [this](const sandbox::SessionPlan& plan) { return relay_->start(plan); }));
  config.policy = sandbox::inside_policy(inside(remote.directory));
  config.workspace = spec_.workspace;
  config.state_dir = setup_.state_dir;
  return shell::Session::start_over(std::move(config), std::move(remote), environment_);
}

Result<> CopiedPlace::end(const contract::Context& context) {
  constexpr std::chrono::seconds kLimit{5};
  if (relay_ != nullptr) {
    if (!copied_.empty()) {
      relay_->remove_file(copied_);
    }
    relay_->close();
  }
  if (base_ != nullptr) {
    base_->close();
  }
  const bool ended = command_.end(kLimit);
  Result<> removed;
  if (created_ && !foreign_) {
    removed = remove_labelled(context);
  }
  if (!ended && !command_.end(kLimit)) {
    command_.kill();
  }
  return removed;
}

}  // namespace bawn::container
