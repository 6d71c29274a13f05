#include "bawn/container/place.hpp"

#include "answer.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/os/procfs.hpp"
#include "bawn/sandbox/features.hpp"
#include "command.hpp"
#include "copied_place.hpp"
#include "place_directory.hpp"
#include "read_back.hpp"
#include "run_arguments.hpp"
#include "shared_place.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <utility>

namespace bawn::container {
namespace {

constexpr std::chrono::seconds kStartLimit{60};
/// An engine that hangs must not hold a close for longer, for each question.
constexpr std::chrono::seconds kCloseLimit{15};

/// A rootless engine's own user is the container's root; every other number needs a range of
/// subordinate ids, which not every user has.
void set_user(PlaceSpec& spec, bool rootless) {
  constexpr std::uint32_t kAgent = 1000;
  spec.uid = spec.uid.value_or(rootless ? 0 : kAgent);
  spec.gid = spec.gid.value_or(*spec.uid == ::geteuid() ? ::getegid() : *spec.uid);
}

Result<> check_engine(const PlaceSetup& setup, const PlaceSpec& spec) {
  const EngineAddress& address = setup.engine->address();
  if (!setup.version.shares_files && !spec.mounts.empty()) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("{} runs where it does not see this machine's files, so nothing of the "
                    "workspace can be mounted; leave \"mounts\" out",
                    setup.engine->name()));
  }
  if (address.command.empty()) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("there is a socket of {0} but no command {0} in PATH, which "
                                      "starts containers; install it",
                                      setup.engine->name()));
  }
  if (setup.version.rootless && spec.existing.empty() && *spec.uid != 0 &&
      *spec.uid != ::geteuid()) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("an engine without root runs commands as you ({}) or as the container's root "
                    "(0), which is also you: user {} is neither",
                    ::geteuid(), *spec.uid));
  }
  return {};
}

Error not_in_time(const Engine& engine, Error error) {
  if (!error.is(ErrorCode::DeadlineExceeded) ||
      error.message().find("in time") != std::string::npos) {
    return error;
  }
  return {ErrorCode::DeadlineExceeded,
          fmt::format("{0} did not start the container in time, and what was begun is removed; see "
                      "what \"{0} info\" says",
                      engine.name())};
}

}  // namespace

Place::Place(PlaceSpec spec, PlaceSetup setup)
    : spec_(std::move(spec)), setup_(std::move(setup)), id_(random_word(20)) {
  engine_version_ = fmt::format("{} {}{}", setup_.engine->name(), setup_.version.version,
                                setup_.version.rootless ? " (rootless)" : "");
}

Result<std::shared_ptr<Place>> Place::open(const contract::Context& context, PlaceSpec spec,
                                           PlaceSetup setup) {
  BAWN_TRY(check(spec, setup.bounds));
  if (spec.existing.empty()) {
    set_user(spec, setup.version.rootless);
  }
  BAWN_TRY(check_engine(setup, spec));
  const std::string warden = BAWN_TRY(sandbox::find_warden_program(setup.warden));
  const bool shared = setup.version.shares_files && spec.existing.empty();
  const auto launch = [&](auto place) -> Result<std::shared_ptr<Place>> {
    place->warden_program_ = warden;
    auto started =
        place->start(context.with_deadline(contract::Context::Clock::now() + kStartLimit));
    if (!started) {
      (void)place->close(context.detached());
      return std::unexpected(not_in_time(place->engine(), std::move(started).error()));
    }
    return place;
  };
  return shared ? launch(std::make_shared<SharedPlace>(std::move(spec), std::move(setup)))
                : launch(std::make_shared<CopiedPlace>(std::move(spec), std::move(setup)));
}

Result<> Place::close(const contract::Context& context) {
  const std::scoped_lock lock(closing_);
  if (std::exchange(closed_, true)) {
    return {};
  }
  return end(context);
}

Result<> Place::record(const contract::Context& context) {
  const EngineAddress& address = engine().address();
  handle_ = {{"engine", engine().name()},
             {"command", address.command},
             {"socket", address.socket},
             {"remote", address.remote},
             {"options", address.options},
             {"container", spec_.name},
             {"label", fmt::format("{}={}", kPlaceLabel, id_)},
             {"image", spec_.image},
             {"boot_id", BAWN_TRY(os::boot_id())}};
  return contract::write_record(context,
                                contract::Record{.name_space = kHandleRecord, .data = handle_});
}

Result<Json> Place::learn(const contract::Context& context) {
  const std::string& container = spec_.existing.empty() ? spec_.name : spec_.existing;
  const auto found = BAWN_TRY(setup_.engine->inspect(context, container));
  if (!found) {
    return contract::fail(ErrorCode::Closed,
                          fmt::format("the container {} was removed while it started", spec_.name));
  }
  handle_["id"] = text_at(*found, "/Id");
  for (const Json& entry : list_at(*found, "/Config/Env")) {
    if (entry.is_string()) {
      environment_.push_back(entry.get<std::string>());
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
  return *found;
}

sandbox::Inside Place::inside(std::string session_dir) const {
  return {.container = spec_.existing.empty() ? spec_.name : spec_.existing,
          .workspace = spec_.workspace,
          .home = home_,
          .uid = *spec_.uid,
          .gid = *spec_.gid,
          .session_dir = std::move(session_dir),
          .writable = writable_.empty() ? writable_places(spec_) : writable_,
          .network = spec_.network != PlaceNetwork::None || !facts_.own_network,
          .keep_capabilities = !spec_.capabilities.empty(),
          .missing = name_missing(facts_, spec_, setup_.version.rootless)};
}

Result<std::shared_ptr<sandbox::Warden>> Place::start_warden(
    sandbox::KernelFeatures features, const std::string& session_dir,
    const std::function<Result<std::shared_ptr<sandbox::Warden>>(const sandbox::SessionPlan&)>&
        start) const {
  for (;;) {
    auto warden = start(BAWN_TRY(sandbox::plan_inside(features, inside(session_dir))));
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

Error Place::explain(const contract::Context& context, const std::string& complaint) {
  const std::string engine = setup_.engine->name();
  const std::string words = first_complaint(complaint);
  if (!spec_.existing.empty()) {
    return {ErrorCode::Closed,
            fmt::format("{} could not run bawn's warden in {}: {}", engine, spec_.existing,
                        words.empty() ? "it ended without a word" : words)};
  }
  if (const auto there = setup_.engine->has_image(context, spec_.image); there && !*there) {
    return {ErrorCode::NotFound,
            fmt::format("the image {0} is not there, and nothing is pulled by itself; fetch it "
                        "with: {1} pull {0}",
                        spec_.image, engine)};
  }
  if (const auto found = setup_.engine->inspect(context, spec_.name); found && *found) {
    if (text_at(**found, fmt::format("/Config/Labels/{}", kPlaceLabel)) != id_) {
      foreign_ = true;
      return {ErrorCode::AlreadyExists,
              fmt::format("a container named {} exists already; choose another name", spec_.name)};
    }
  }
  return {ErrorCode::Closed, fmt::format("{} could not start the container: {}", engine,
                                         words.empty() ? "it ended without a word" : words)};
}

Result<> Place::remove_labelled(const contract::Context& context) {
  const auto limited = context.with_deadline(contract::Context::Clock::now() + kCloseLimit);
  Result<> removed;
  for (const std::string& container :
       BAWN_TRY(setup_.engine->list(limited, fmt::format("{}={}", kPlaceLabel, id_)))) {
    removed = setup_.engine->remove(limited, container);
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
      .remote = text("remote"),
      .options = {}};
  for (const Json& word : list_at(handle, "/options")) {
    address.options.push_back(word.is_string() ? word.get<std::string>() : std::string());
  }
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
