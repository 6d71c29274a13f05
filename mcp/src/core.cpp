#include "core.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::mcp {

Json Core::server_info(const WireFeatures& features) const {
  Json info = {{"name", options.name}};
  if (features.structured && !options.title.empty()) {
    info["title"] = options.title;
  }
  info["version"] = options.version;
  return info;
}

Json Core::capabilities(bool modern) const {
  Json capabilities = {{"tools", {{"listChanged", false}}}};
  if (options.logging && !modern) {
    capabilities["logging"] = Json::object();
  }
  return capabilities;
}

Json Core::finished(Json result, const Era& era, const std::optional<Caching>& caching) const {
  const WireFeatures features = era.features();
  if (!features.envelope) {
    return result;
  }
  Json finished = {{"resultType", "complete"}};
  for (auto& member : result.get_ref<Json::object_t&>()) {
    finished[member.first] = std::move(member.second);
  }
  if (caching) {
    finished["ttlMs"] = caching->ttl_ms;
    finished["cacheScope"] = caching->same_for_all ? "public" : "private";
  }
  finished["_meta"][std::string(meta::kServerInfo)] = server_info(features);
  return finished;
}

Caching Core::list_caching() const {
  return {.ttl_ms = options.list_ttl.count(), .same_for_all = catalog.same_for_all()};
}

std::string Core::next_call_id() const {
  return fmt::format("mcp_{}", ++calls_);
}

}  // namespace bawn::mcp
