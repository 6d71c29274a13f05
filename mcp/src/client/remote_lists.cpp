/// \file
/// A server's lists, and what of its answers is used again.

#include "client/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace bawn::mcp {

using contract::Context;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

/// What a notification says is no longer as it was.
void RemoteClient::forget_changed(const std::string& method, const Json& params) {
  if (method == "notifications/tools/list_changed") {
    forget_tools();
  } else if (method == "notifications/prompts/list_changed") {
    forget({.method = "prompts/list"});
  } else if (method == "notifications/resources/list_changed") {
    forget({.method = "resources/list"});
    forget({.method = "resources/templates/list"});
  } else if (method == "notifications/resources/updated" && params.is_object()) {
    const Json uri = params.value("uri", Json());
    if (uri.is_string()) {
      forget({.method = "resources/read", .uri = uri.get<std::string>()});
    }
  }
}

Freshness RemoteClient::freshness_of(const Json& result) const {
  return {result, options_.max_cache_age};
}

Result<Json> RemoteClient::kept_or(const Context& context, const AnswerKey& key,
                                   const std::function<Result<Fetched>()>& fetch) {
  if (!modern_ || options_.max_cache_age.count() <= 0) {
    return BAWN_TRY(fetch()).first;
  }
  const std::uint64_t before = BAWN_TRY(channel_->authorization(context));
  if (auto kept = cache_.find(key, before)) {
    return *std::move(kept);
  }
  const std::uint64_t generation = cache_.generation();
  Fetched fetched = BAWN_TRY(fetch());
  if (const auto after = channel_->authorization(context); after && *after == before) {
    cache_.keep(key, fetched.first, fetched.second, before, generation);
  }
  return std::move(fetched.first);
}

Result<std::vector<Json>> RemoteClient::pages(const Context& context, const std::string& method,
                                              const char* member, Lacking lacking) {
  Json list = BAWN_TRY(kept_or(context, {.method = method},
                               [&] { return read_pages(context, method, member, lacking); }));
  return std::move(list.get_ref<Json::array_t&>());
}

/// Always all of them: pages that came at different times may not fit together.
Result<RemoteClient::Fetched> RemoteClient::read_pages(const Context& context,
                                                       const std::string& method,
                                                       const char* member, Lacking lacking) {
  constexpr std::size_t kMostPages = 64;
  constexpr int kMethodNotFound = -32601;
  Json entries = Json::array();
  std::optional<Freshness> freshness;
  std::set<std::string> cursors;
  Request request{.method = method, .deadline = soon()};
  for (std::size_t page = 0; page < kMostPages; ++page) {
    auto answer = BAWN_TRY(ask(context, request));
    if (!answer && lacking == Lacking::IsEmpty && answer.error().code == kMethodNotFound) {
      return Fetched(entries, freshness_of({}));
    }
    if (!answer) {
      return std::unexpected(failed(method, answer.error()));
    }
    Json list = answer->is_object() ? answer->value(member, Json()) : Json();
    if (!list.is_array()) {
      return fail(ErrorCode::ToolFailed,
                  fmt::format("mcp: {}: there is no list of {}", method, member));
    }
    std::ranges::move(list, std::back_inserter(entries.get_ref<Json::array_t&>()));
    const Freshness own = freshness_of(*answer);
    if (freshness) {
      freshness->narrow(own);
    } else {
      freshness = own;
    }
    const Json cursor = answer->value("nextCursor", Json());
    if (!cursor.is_string()) {
      return Fetched(std::move(entries), *freshness);
    }
    if (!cursors.insert(cursor.get<std::string>()).second) {
      return fail(ErrorCode::ToolFailed, fmt::format("mcp: {}: its pages go in a circle", method));
    }
    request.members = "\"cursor\":" + contract::dump_json(cursor);
    request.deadline = soon();
  }
  return fail(ErrorCode::ToolFailed, fmt::format("mcp: {}: there are too many pages", method));
}

Result<ListedTools> RemoteClient::read_list(const Context& context) {
  auto tools = check_list(BAWN_TRY(pages(context, "tools/list", "tools")));
  if (!tools) {
    forget_tools();  // whoever asks again hopes for a better one
  }
  return tools;
}

Result<ListedTools> RemoteClient::check_list(const std::vector<Json>& entries) const {
  ListedTools tools;
  std::set<std::string> names;
  for (const Json& entry : entries) {
    ListedTool tool = BAWN_TRY(listed_tool(options_, entry));
    if (!names.insert(tool.remote_name).second) {
      return fail(ErrorCode::ToolFailed,
                  fmt::format("mcp: tools/list: two tools are named {}", shown(tool.remote_name)));
    }
    if (channel_->has_headers()) {
      auto mirrored = mirrored_arguments(entry.at("inputSchema"));
      if (!mirrored) {
        drop(tool.remote_name, mirrored.error());
        continue;
      }
      tool.mirrored = *std::move(mirrored);
    }
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace bawn::mcp
