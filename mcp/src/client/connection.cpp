#include "client/connection.hpp"

#include "bawn/contract/quote.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

Error failed(std::string_view what, const RemoteError& error) {
  return {ErrorCode::ToolFailed,
          fmt::format("mcp: {}: {} (code {})", what, shown(error.message), error.code)};
}

}  // namespace

Result<std::shared_ptr<Client>> Client::connect(const Context& context, int from_server,
                                                int to_server, ClientOptions options) {
  auto client = std::make_shared<RemoteClient>(std::move(options));
  BAWN_TRY(client->begin(context, from_server, to_server));
  return client;
}

Result<> RemoteClient::begin(const Context& context, int from_server, int to_server) {
  wire_ = BAWN_TRY(Wire::open(from_server, to_server, options_));
  if (options_.era == EraChoice::Modern) {
    modern_ = true;
    version_ = kModernVersion;
    return {};
  }
  if (options_.era == EraChoice::Auto && BAWN_TRY(probe(context))) {
    return {};
  }
  return shake_hands(context);
}

void RemoteClient::close() {
  if (wire_ != nullptr) {
    wire_->close();
  }
}

Wire::Clock::time_point RemoteClient::soon() const {
  return Wire::Clock::now() + options_.request_timeout;
}

Json RemoteClient::capabilities() const {
  Json capabilities = Json::object();
  if (options_.elicitation) {
    capabilities["elicitation"] = {{"form", Json::object()}, {"url", Json::object()}};
  }
  return capabilities;
}

std::string RemoteClient::meta_text(const std::string& id, bool progress) const {
  Json members = Json::object();
  if (modern_) {
    members[std::string(meta::kProtocolVersion)] = version_;
    members["io.modelcontextprotocol/clientInfo"] = {{"name", options_.name},
                                                     {"version", options_.version}};
    members[std::string(meta::kClientCapabilities)] = capabilities();
  }
  if (progress) {
    members[std::string(meta::kProgressToken)] = id;
  }
  return members.empty() ? std::string() : "\"_meta\":" + contract::dump_json(members);
}

Result<RemoteAnswer> RemoteClient::ask(const Context& context, const std::string& method,
                                       const std::string& members, bool progress,
                                       std::optional<Wire::Clock::time_point> deadline,
                                       RequestHooks hooks) {
  return wire_->ask(context, {.method = method,
                              .params =
                                  [&](const std::string& id) {
                                    const std::string with = meta_text(id, progress);
                                    const bool both = !with.empty() && !members.empty();
                                    return "{" + members + (both ? "," : "") + with + "}";
                                  },
                              .deadline = deadline,
                              .hooks = std::move(hooks)});
}

/// True when the server is a modern one. Whatever else it does with the probe makes it an older
/// one, but for its end.
Result<bool> RemoteClient::probe(const Context& context) {
  modern_ = true;
  version_ = kModernVersion;
  const auto answer =
      ask(context, "server/discover", {}, false, Wire::Clock::now() + options_.probe_timeout);
  modern_ = false;
  if (!answer) {
    return answer.error().code() == ErrorCode::DeadlineExceeded
               ? Result<bool>(false)
               : Result<bool>(std::unexpected(answer.error()));
  }
  if (!*answer) {
    constexpr int kUnsupported = -32022;
    const RemoteError& error = answer->error();
    const Json supported = error.data.is_object() ? error.data.value("supported", Json()) : Json();
    modern_ = error.code == kUnsupported && supported.is_array() &&
              std::ranges::find(supported, Json(kModernVersion)) != supported.end();
    return modern_;
  }
  const Json& result = **answer;
  const Json versions = result.is_object() ? result.value("supportedVersions", Json()) : Json();
  modern_ =
      versions.is_array() && std::ranges::find(versions, Json(kModernVersion)) != versions.end();
  if (modern_) {
    const Json members = result.value("_meta", Json::object());
    take_server(result, members.is_object() ? members.value(std::string(meta::kServerInfo), Json())
                                            : Json());
  }
  return modern_;
}

Result<> RemoteClient::shake_hands(const Context& context) {
  const Json params = {{"protocolVersion", kNewestLegacy},
                       {"capabilities", capabilities()},
                       {"clientInfo", {{"name", options_.name}, {"version", options_.version}}}};
  const std::string text = contract::dump_json(params);
  const auto answer =
      BAWN_TRY(ask(context, "initialize", text.substr(1, text.size() - 2), false, soon()));
  if (!answer) {
    return std::unexpected(failed("initialize", answer.error()));
  }
  const Json agreed = answer->is_object() ? answer->value("protocolVersion", Json()) : Json();
  if (!agreed.is_string() || !is_legacy_version(agreed.get<std::string>())) {
    return fail(ErrorCode::ToolFailed, "mcp: the server speaks no revision that we know");
  }
  version_ = agreed.get<std::string>();
  take_server(*answer, answer->value("serverInfo", Json()));
  return wire_->tell("notifications/initialized", Json::object());
}

void RemoteClient::take_server(const Json& result, const Json& info) {
  server_info_ = info.is_object() ? info : Json();
  const Json text = result.value("instructions", Json());
  instructions_ = text.is_string() ? text.get<std::string>() : "";
}

Result<std::vector<contract::ToolPtr>> RemoteClient::tools(const Context& context) {
  constexpr std::size_t kMostPages = 64;
  std::vector<contract::ToolPtr> tools;
  std::set<std::string> names;
  std::set<std::string> cursors;
  std::string members;
  for (std::size_t page = 0; page < kMostPages; ++page) {
    const auto answer = BAWN_TRY(ask(context, "tools/list", members, false, soon()));
    if (!answer) {
      return std::unexpected(failed("tools/list", answer.error()));
    }
    const Json list = answer->is_object() ? answer->value("tools", Json()) : Json();
    if (!list.is_array()) {
      return fail(ErrorCode::ToolFailed, "mcp: tools/list: there is no list of tools");
    }
    for (const Json& entry : list) {
      tools.push_back(BAWN_TRY(make_remote_tool(shared_from_this(), entry)));
      if (!names.insert(tools.back()->definition().name).second) {
        return fail(ErrorCode::ToolFailed, fmt::format("mcp: tools/list: two tools are named {}",
                                                       shown(tools.back()->definition().name)));
      }
    }
    const Json cursor = answer->value("nextCursor", Json());
    if (!cursor.is_string()) {
      BAWN_TRY(check_claims(names));
      return tools;
    }
    if (!cursors.insert(cursor.get<std::string>()).second) {
      return fail(ErrorCode::ToolFailed, "mcp: tools/list: its pages go in a circle");
    }
    members = "\"cursor\":" + contract::dump_json(cursor);
  }
  return fail(ErrorCode::ToolFailed, "mcp: tools/list: there are too many pages");
}

// A misspelt name must not silently lose what the host said of a tool.
Result<> RemoteClient::check_claims(const std::set<std::string>& names) const {
  for (const RemoteToolOptions& claim : options_.tools) {
    if (!names.contains(claim.name) && !names.contains(options_.prefix + "__" + claim.name)) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("mcp: the options name the tool {}, which the server does not have",
                              shown(claim.name)));
    }
  }
  return {};
}

}  // namespace bawn::mcp
