#include "core.hpp"

#include "exchange.hpp"
#include "json_text.hpp"
#include "peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bawn::mcp {

void Watchers::add(const std::shared_ptr<Peer>& peer) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(peers_, [&](const std::weak_ptr<Peer>& one) {
    const auto known = one.lock();
    return known == nullptr || known == peer;
  });
  peers_.push_back(peer);
}

std::vector<std::shared_ptr<Peer>> Watchers::all() const {
  std::vector<std::shared_ptr<Peer>> all;
  const std::scoped_lock lock(mutex_);
  for (const std::weak_ptr<Peer>& one : peers_) {
    if (auto peer = one.lock()) {
      all.push_back(std::move(peer));
    }
  }
  return all;
}

Core::Core(ServerOptions server_options, Catalog tools)
    : options(std::move(server_options)),
      waiting(std::make_shared<WaitingCalls>()),
      log(options.log),
      server_info_text_(contract::dump_json(server_info(features_of(kModernVersion)))),
      catalog_(std::make_shared<const Catalog>(std::move(tools))) {}

Core::Core(ServerOptions server_options, ToolSource tools)
    : options(std::move(server_options)),
      waiting(std::make_shared<WaitingCalls>()),
      log(options.log),
      server_info_text_(contract::dump_json(server_info(features_of(kModernVersion)))),
      source_(std::move(tools)) {}

contract::Result<std::shared_ptr<const Catalog>> Core::catalog() const {
  const std::scoped_lock lock(catalog_mutex_);
  if (catalog_ == nullptr) {
    auto tools = BAWN_TRY(source_());
    catalog_ = std::make_shared<const Catalog>(
        BAWN_TRY(Catalog::create(std::move(tools), options.tool_meta, options.any_tool_name)));
  }
  return catalog_;
}

void Core::replace_catalog(Catalog catalog) const {
  auto next = std::make_shared<const Catalog>(std::move(catalog));
  const std::scoped_lock lock(catalog_mutex_);
  catalog_.swap(next);
}

Json Core::server_info(const WireFeatures& features) const {
  Json info = {{"name", options.name}};
  if (features.structured && !options.title.empty()) {
    info["title"] = options.title;
  }
  info["version"] = options.version;
  return info;
}

Json Core::capabilities(bool modern) const {
  const bool change = options.lists_change;
  Json capabilities = {{"tools", {{"listChanged", change}}}};
  if (options.resources != nullptr) {
    capabilities["resources"] = {{"subscribe", options.resource_updates}, {"listChanged", change}};
  }
  if (!options.prompts.empty()) {
    capabilities["prompts"] = {{"listChanged", change}};
  }
  if (completes()) {
    capabilities["completions"] = Json::object();
  }
  if (options.logging && !modern) {
    capabilities["logging"] = Json::object();
  }
  return capabilities;
}

bool Core::completes() const {
  return options.resources != nullptr ||
         std::ranges::any_of(options.prompts,
                             [](const Prompt& prompt) { return bool{prompt.complete}; });
}

std::string Core::finished_text(std::string_view open_members, const Era& era,
                                const Caching& caching) const {
  std::string text(open_members);
  if (era.features().envelope) {
    text += fmt::format(R"(,"resultType":"complete","ttlMs":{},"cacheScope":"{}","_meta":{{)",
                        caching.ttl_ms, caching.same_for_all ? "public" : "private");
    append_string(text, meta::kServerInfo);
    text += ":" + server_info_text_ + "}";
  }
  return text + "}";
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

Caching Core::list_caching(const Catalog& tools) const {
  return {.ttl_ms = options.list_ttl.count(), .same_for_all = tools.same_for_all()};
}

std::string Core::next_call_id() const {
  return fmt::format("mcp_{}", ++calls_);
}

}  // namespace bawn::mcp
