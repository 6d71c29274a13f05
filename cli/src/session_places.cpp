#include "session_places.hpp"

#include <utility>

namespace bawn::cli {

SessionPlaces::SessionPlaces(std::shared_ptr<shell::SessionPool> pool, std::string default_session)
    : pool_(std::move(pool)), default_session_(std::move(default_session)) {}

contract::Result<files::Place> SessionPlaces::place(const contract::Context& context,
                                                    const std::optional<std::string>& name) {
  files::Place place;
  place.key = BAWN_TRY(pool_->key_of(context, name, default_session_));
  const auto session = BAWN_TRY(pool_->get(place.key));
  place.name = name.value_or(default_session_);
  place.warden = session->warden();
  place.files = BAWN_TRY(place.warden->file_agent());
  place.workspace = session->workspace();
  place.home = session->identity().home;
  place.environment = session->environment();
  place.policy = session->policy();
  place.confinement = session->confinement();
  return place;
}

contract::Confinement SessionPlaces::confinement(const contract::Context& context,
                                                 const std::optional<std::string>& name) const {
  const auto key = pool_->key_of(context, name, default_session_);
  return pool_->confinement(key ? *key : std::string());
}

std::string SessionPlaces::workspace(const contract::Context& context,
                                     const std::optional<std::string>& name) const {
  const auto key = pool_->key_of(context, name, default_session_);
  return pool_->workspace_of(key ? *key : std::string());
}

}  // namespace bawn::cli
