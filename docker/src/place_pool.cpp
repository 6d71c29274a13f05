#include "bawn/container/place_pool.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace bawn::container {
namespace {

/// What stands behind the '@'; empty for a session on the host.
std::string place_part(const std::string& session) {
  const std::size_t at = session.find('@');
  return at == std::string::npos ? std::string() : session.substr(at + 1);
}

}  // namespace

PlacePool::PlacePool(shell::SessionConfig config, const shell::PoolLimits& limits, PoolSetup setup)
    : SessionPool(std::move(config), limits), setup_(std::move(setup)) {}

PlacePool::~PlacePool() {
  close_all();
  close_all_places();
}

Result<PlaceSetup> PlacePool::engine_for(const contract::Context& context,
                                         const std::string& wanted) {
  std::optional<Error> last;
  std::vector<std::string> known;
  for (EngineAddress& address : find_engines(setup_.environment)) {
    known.emplace_back(to_string(address.kind));
    if (!wanted.empty() && wanted != to_string(address.kind)) {
      continue;
    }
    const EngineKind kind = address.kind;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = engines_.find(kind); found != engines_.end()) {
        return found->second;
      }
    }
    PlaceSetup made{.engine = {},
                    .version = {},
                    .state_dir = config().state_dir,
                    .bounds = setup_.bounds,
                    .warden = setup_.warden};
    auto engine = Engine::connect(context, std::move(address), setup_.environment);
    auto version = engine ? (*engine)->version(context)
                          : Result<EngineVersion>(std::unexpected(engine.error()));
    if (!version) {
      last = version.error();
      continue;
    }
    made.engine = *std::move(engine);
    made.version = *std::move(version);
    const std::lock_guard lock(mutex_);
    engines_.emplace(kind, made);
    return made;
  }
  if (last) {
    return std::unexpected(*std::move(last));
  }
  if (!wanted.empty() && !known.empty()) {
    return contract::fail(ErrorCode::Unsupported,
                          fmt::format("there is no {} here, but {}; leave \"engine\" out to use it",
                                      contract::quote(wanted), fmt::join(known, " and ")));
  }
  return contract::fail(ErrorCode::Unsupported,
                        "there is no container engine here: neither podman nor docker is in PATH "
                        "with a socket that answers; install podman, or set DOCKER_HOST");
}

Result<> PlacePool::reserve(const std::string& key, const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(places_, [](const auto& entry) { return !entry.second->alive(); });
  if (places_.contains(key) || opening_.contains(key)) {
    return contract::fail(
        ErrorCode::AlreadyExists,
        fmt::format("the place {} is open already; use it, close it with container_close, or "
                    "choose another name",
                    name));
  }
  if (places_.size() + opening_.size() >= setup_.places) {
    return contract::fail(
        ErrorCode::ResourceExhausted,
        fmt::format("{} containers are open, which is the limit; close one with container_close",
                    setup_.places));
  }
  opening_.insert(key);
  return {};
}

Result<std::shared_ptr<Place>> PlacePool::open(const contract::Context& context, PlaceSpec spec,
                                               const std::string& engine) {
  BAWN_TRY(check(spec, setup_.bounds));
  const std::string name = spec.name;
  const std::string key = BAWN_TRY(key_of(context, name, {}));
  PlaceSetup made = BAWN_TRY(engine_for(context, engine));
  BAWN_TRY(reserve(key, name));
  auto place = Place::open(context, std::move(spec), std::move(made));
  const std::lock_guard lock(mutex_);
  opening_.erase(key);
  if (place) {
    places_[key] = *place;
  } else {
    engines_.clear();  // it may have been stopped or replaced: look anew next time
  }
  return place;
}

Result<bool> PlacePool::close_place(const contract::Context& context, const std::string& name) {
  const std::string key = BAWN_TRY(key_of(context, name, {}));
  std::shared_ptr<Place> place;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) {
      place = std::move(found->second);
      places_.erase(found);
    }
  }
  if (place == nullptr) {
    return contract::fail(ErrorCode::NotFound,
                          fmt::format("there is no open place {}", contract::quote(name)));
  }
  for (const std::string& session : names()) {
    if (place_part(session) == key) {
      close(session);
    }
  }
  BAWN_TRY(place->close(context.detached()));
  return place->spec().existing.empty();
}

void PlacePool::close_all_places() {
  std::map<std::string, std::shared_ptr<Place>> places;
  {
    const std::lock_guard lock(mutex_);
    places.swap(places_);
  }
  for (const auto& [key, place] : places) {
    // Nobody is left to be told; the record stays for the next start when it fails.
    (void)place->close(contract::Context());
  }
}

std::shared_ptr<Place> PlacePool::place_of(const std::string& session) const {
  const std::string key = place_part(session);
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : found->second;
}

contract::Confinement PlacePool::confinement(const std::string& name) const {
  if (place_part(name).empty() || find(name) != nullptr) {
    return SessionPool::confinement(name);
  }
  const auto place = place_of(name);
  return place == nullptr ? contract::Confinement{} : place->forecast();
}

std::string PlacePool::workspace_of(const std::string& name) const {
  const auto place = place_of(name);
  return place == nullptr ? SessionPool::workspace_of(name) : place->spec().workspace;
}

Result<std::shared_ptr<shell::Session>> PlacePool::start(shell::SessionConfig config) {
  if (place_part(config.name).empty()) {
    return SessionPool::start(std::move(config));
  }
  const auto place = place_of(config.name);
  if (place == nullptr) {
    return contract::fail(ErrorCode::NotFound,
                          "that place is not open; container_open opens one and names it");
  }
  return place->start_session(std::move(config));
}

}  // namespace bawn::container
