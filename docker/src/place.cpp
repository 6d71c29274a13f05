#include "bawn/container/place.hpp"

#include "bawn/contract/quote.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/sandbox/features.hpp"
#include "command.hpp"
#include "mounts.hpp"
#include "place_directory.hpp"
#include "read_back.hpp"
#include "run_arguments.hpp"
#include "waiting_room.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace bawn::container {
namespace {

constexpr std::chrono::seconds kStartLimit{60};
/// What engines ask for at most; podman lowers its own number of threads to this first.
constexpr std::uint64_t kMostThreads = 32768;
constexpr std::uint64_t kMostFiles = 65536;

std::uint64_t hard_limit(__rlimit_resource resource, std::uint64_t most) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? std::min<std::uint64_t>(limit.rlim_max, most) : most;
}

Result<os::UniqueFd> error_file() {
  os::UniqueFd file(::memfd_create("bawn-engine", MFD_CLOEXEC));
  if (!file.is_open()) {
    return std::unexpected(Error::from_errno(errno, "memfd_create", "cannot keep complaints"));
  }
  return file;
}

std::string read_errors(const os::UniqueFd& file) {
  std::array<char, 16384> text;
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

/// Who commands of this spec are on the host.
std::pair<std::uint32_t, std::uint32_t> host_ids(const PlaceSpec& spec, bool rootless) {
  return rootless ? std::pair<std::uint32_t, std::uint32_t>{::geteuid(), ::getegid()}
                  : std::pair{*spec.uid, *spec.gid};
}

/// A rootless engine's own user is the container's root; every other number needs a range of
/// subordinate ids, which not every user has.
void set_user(PlaceSpec& spec, bool rootless) {
  constexpr std::uint32_t kAgent = 1000;
  spec.uid = spec.uid.value_or(rootless ? 0 : kAgent);
  spec.gid = spec.gid.value_or(*spec.uid == ::geteuid() ? ::getegid() : *spec.uid);
}

Result<> check_engine(const PlaceSetup& setup, const PlaceSpec& spec) {
  const EngineAddress& address = setup.engine->address();
  if (!address.remote.empty()) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("{} is another machine's engine; containers are opened on this machine only",
                    contract::quote(address.remote)));
  }
  if (address.command.empty()) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("there is a socket of {0} but no command {0} in PATH, which "
                                      "starts containers; install it",
                                      setup.engine->name()));
  }
  if (setup.version.rootless && *spec.uid != 0 && *spec.uid != ::geteuid()) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("an engine without root runs commands as you ({}) or as the container's root "
                    "(0), which is also you: user {} is neither",
                    ::geteuid(), *spec.uid));
  }
  return {};
}

}  // namespace

Place::Place() = default;

Place::~Place() {
  (void)close(contract::Context());
}

bool Place::alive() const noexcept {
  return main_ != nullptr && main_->alive();
}

Result<std::shared_ptr<Place>> Place::open(const contract::Context& context, PlaceSpec spec,
                                           PlaceSetup setup) {
  BAWN_TRY(check(spec, setup.bounds));
  set_user(spec, setup.version.rootless);
  BAWN_TRY(check_engine(setup, spec));
  std::shared_ptr<Place> place(new Place());
  place->spec_ = std::move(spec);
  place->setup_ = std::move(setup);
  place->engine_version_ =
      fmt::format("{} {}{}", place->setup_.engine->name(), place->setup_.version.version,
                  place->setup_.version.rootless ? " (rootless)" : "");
  place->warden_program_ = BAWN_TRY(sandbox::find_warden_program(place->setup_.warden));
  place->mounts_ = BAWN_TRY(hold_mounts(place->spec_.mounts, place->setup_.bounds.workspace));
  place->id_ = random_word(20);
  place->directory_ = std::make_unique<PlaceDirectory>(
      BAWN_TRY(PlaceDirectory::make(place->setup_.state_dir, place->id_)));
  auto started =
      place->start_container(context.with_deadline(contract::Context::Clock::now() + kStartLimit));
  if (!started) {
    (void)place->close(context.detached());
    return std::unexpected(std::move(started).error());
  }
  return place;
}

Result<> Place::start_container(const contract::Context& context) {
  const EngineAddress& address = setup_.engine->address();
  handle_ = {{"engine", setup_.engine->name()},
             {"command", address.command},
             {"socket", address.socket},
             {"container", spec_.name},
             {"label", fmt::format("{}={}", kPlaceLabel, id_)},
             {"image", spec_.image},
             {"boot_id", BAWN_TRY(os::boot_id())}};
  BAWN_TRY(contract::write_record(context,
                                  contract::Record{.name_space = kHandleRecord, .data = handle_}));
  auto room = BAWN_TRY(WaitingRoom::open(socket_of(directory_->path())));
  os::Pipe life = BAWN_TRY(os::Pipe::make());
  errors_ = BAWN_TRY(error_file());
  os::SpawnOptions run;
  run.program = address.command;
  run.argv = run_arguments(spec_, mounts_,
                           {.engine = address.kind,
                            .rootless = setup_.version.rootless,
                            .id = id_,
                            .directory = directory_->path(),
                            .warden = warden_program_,
                            .open_files = hard_limit(RLIMIT_NOFILE, kMostFiles),
                            .threads = hard_limit(RLIMIT_NPROC, kMostThreads)});
  run.argv.insert(run.argv.begin(), address.command);
  run.env = setup_.engine->environment();
  run.fds = {{life.read.get(), 0}, {errors_.get(), 1}, {errors_.get(), 2}};
  engine_ = BAWN_TRY(os::spawn(run));
  started_ = true;
  life.read.reset();
  life_ = std::move(life.write);
  auto visitor = room.await(context, engine_);
  if (!visitor) {
    return std::unexpected(std::move(visitor).error());
  }
  if (!*visitor) {
    return std::unexpected(explain(context, read_errors(errors_)));
  }
  return take_over(context, **std::move(visitor));
}

Result<> Place::take_over(const contract::Context& context, Visitor visitor) {
  if (visitor.pid <= 0) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("{} runs its containers where this process cannot see them; bawn must run "
                    "beside the engine, not in a container of its own",
                    setup_.engine->name()));
  }
  const int pid = visitor.pid;
  BAWN_TRY(check_mounted(mounts_, pid));
  share_temporary(temporary_places(spec_), pid);
  facts_ = read_back(pid);
  sandbox::SessionPlan nothing;
  nothing.uid = *spec_.uid;
  nothing.gid = *spec_.gid;
  auto command = BAWN_TRY(os::Pidfd::open(engine_.pid()));
  main_ = BAWN_TRY(sandbox::hand_plan(
      {.stream = std::move(visitor.stream), .pid = pid, .child = std::move(command)}, nothing));
  return learn(context);
}

void Place::end_engine() noexcept {
  constexpr std::chrono::seconds kLimit{5};
  life_.reset();
  if (!engine_.is_open()) {
    return;
  }
  const auto soon = contract::Context().with_deadline(contract::Context::Clock::now() + kLimit);
  if (!os::wait_readable(engine_.get(), soon)) {
    (void)engine_.signal(SIGKILL);  // what it leaves is removed by its label
    (void)os::wait_readable(engine_.get(), soon);
  }
  (void)engine_.reap();
}

Result<> Place::learn(const contract::Context& context) {
  const auto found = BAWN_TRY(setup_.engine->inspect(context, spec_.name));
  if (!found) {
    return contract::fail(ErrorCode::Closed,
                          fmt::format("the container {} was removed while it started", spec_.name));
  }
  handle_["id"] = found->value("Id", "");
  const Json* const config = found->contains("Config") ? &(*found)["Config"] : nullptr;
  home_ = "/tmp";
  if (config != nullptr && config->contains("Env") && (*config)["Env"].is_array()) {
    for (const Json& entry : (*config)["Env"]) {
      if (entry.is_string()) {
        environment_.push_back(entry.get<std::string>());
      }
    }
  }
  for (const auto& [name, value] : spec_.environment) {
    std::erase_if(environment_,
                  [&](const std::string& entry) { return entry.starts_with(name + "="); });
    environment_.push_back(fmt::format("{}={}", name, value));
  }
  const auto add = [&](const char* name, const std::string& value) {
    if (variable(environment_, name).empty()) {
      environment_.push_back(fmt::format("{}={}", name, value));
    }
  };
  add("HOME", home_);
  add("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  add("TMPDIR", "/tmp");
  home_ = variable(environment_, "HOME");
  forecast_ = BAWN_TRY(sandbox::plan_inside(sandbox::assume_features(),
                                            inside(directory_->path() + "/sessions/x")))
                  .forecast;
  return {};
}

sandbox::Inside Place::inside(std::string session_dir) const {
  return {.container = spec_.name,
          .workspace = spec_.workspace,
          .home = home_,
          .uid = *spec_.uid,
          .gid = *spec_.gid,
          .session_dir = std::move(session_dir),
          .writable = writable_places(spec_),
          .network = spec_.network != PlaceNetwork::None || !facts_.own_network,
          .keep_capabilities = !spec_.capabilities.empty(),
          .missing = name_missing(facts_, spec_, setup_.version.rootless)};
}

Result<std::shared_ptr<sandbox::Warden>> Place::start_warden(const std::string& session_dir) {
  sandbox::KernelFeatures features = sandbox::assume_features();
  for (;;) {
    const auto plan = BAWN_TRY(sandbox::plan_inside(features, inside(session_dir)));
    auto warden = sandbox::start_beside(*main_, kWardenInside, plan, "place." + random_word(16));
    if (warden || !warden.error().is(ErrorCode::Unsupported)) {
      return warden;
    }
    // An engine's profile or another kernel (gVisor) may refuse a layer: then the others alone.
    if (features.landlock_abi > 0) {
      features.landlock_abi = 0;
      features.landlock_reason = warden.error().message();
    } else if (features.seccomp.available) {
      features.seccomp = {.available = false, .reason = warden.error().message()};
    } else {
      return warden;
    }
  }
}

Result<std::shared_ptr<shell::Session>> Place::start_session(shell::SessionConfig config) {
  if (!alive()) {
    return contract::fail(
        ErrorCode::Closed,
        fmt::format("the container {} is gone; open it again with container_open", spec_.name));
  }
  const auto [uid, gid] = host_ids(spec_, setup_.version.rootless);
  const std::string directory =
      BAWN_TRY(shell::Session::prepare_directory(directory_->path(), uid, gid));
  auto warden = BAWN_TRY(start_warden(directory));
  config.policy = sandbox::inside_policy(inside(directory));
  config.workspace = spec_.workspace;
  config.state_dir = directory_->path();
  return shell::Session::start_inside(std::move(config), directory, std::move(warden),
                                      environment_);
}

Error Place::explain(const contract::Context& context, const std::string& complaint) {
  const std::string engine = setup_.engine->name();
  if (const auto there = setup_.engine->has_image(context, spec_.image); there && !*there) {
    return {ErrorCode::NotFound,
            fmt::format("the image {0} is not there, and nothing is pulled by itself; fetch it "
                        "with: {1} pull {0}",
                        spec_.image, engine)};
  }
  if (const auto found = setup_.engine->inspect(context, spec_.name); found && *found) {
    const Json labels = (*found)->value("/Config/Labels"_json_pointer, Json::object());
    if (!labels.is_object() || labels.value(kPlaceLabel, "") != id_) {
      started_ = false;  // what has the name is not ours to remove
      return {ErrorCode::AlreadyExists,
              fmt::format("a container named {} exists already; choose another name", spec_.name)};
    }
  }
  const std::string words = first_complaint(complaint);
  return {ErrorCode::Closed, fmt::format("{} could not start the container: {}", engine,
                                         words.empty() ? "it ended without a word" : words)};
}

Result<> Place::close(const contract::Context& context) {
  const std::scoped_lock lock(closing_);
  if (std::exchange(closed_, true)) {
    return {};
  }
  if (main_ != nullptr) {
    main_->close();
  }
  end_engine();
  Result<> removed;
  if (started_) {
    // Its own --rm did it, as a rule; asked by the label, so that a name that somebody else took
    // since is never hit.
    const auto left = setup_.engine->list(context, fmt::format("{}={}", kPlaceLabel, id_));
    if (!left) {
      removed = std::unexpected(left.error());
    } else {
      for (const std::string& container : *left) {
        removed = setup_.engine->remove(context, container);
      }
    }
  }
  if (directory_ != nullptr) {
    directory_->remove();
  }
  return removed;
}

Result<bool> remove_left_behind(const contract::Context& context, const Json& handle,
                                const std::vector<std::string>& environment, bool remove) {
  const auto text = [&](const char* name) {
    const auto found = handle.find(name);
    return found != handle.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string label = text("label");
  if (!label.starts_with(std::string(kPlaceLabel) + "=") || label.size() < 20) {
    return false;
  }
  EngineAddress address{
      .kind = text("engine") == "docker" ? EngineKind::Docker : EngineKind::Podman,
      .command = text("command"),
      .socket = text("socket"),
      .remote = {}};
  const auto engine = BAWN_TRY(Engine::connect(context, std::move(address), environment));
  bool any = false;
  for (const std::string& container : BAWN_TRY(engine->list(context, label))) {
    if (remove) {
      BAWN_TRY(engine->remove(context, container));
    }
    any = true;
  }
  return any;
}

}  // namespace bawn::container
