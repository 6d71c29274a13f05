#include "client/connection.hpp"

#include "client/wire.hpp"
#include "protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace bawn::mcp {
namespace {

using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr int kUnsupportedVersion = -32022;

bool names_our_version(const Json& versions) {
  return versions.is_array() && std::ranges::find(versions, Json(kModernVersion)) != versions.end();
}

/// True when a refusal of another revision names ours.
bool wants_our_version(const RemoteError& error) {
  return error.code == kUnsupportedVersion && error.data.is_object() &&
         names_our_version(error.data.value("supported", Json()));
}

/// Errors that only a modern server gives, also before anything is agreed.
bool only_modern(const RemoteError& error) {
  constexpr int kHeaderMismatch = -32020;
  constexpr int kMissingCapability = -32021;
  constexpr int kMethodNotFound = -32601;
  return (error.http_status == 400 &&
          (error.code == kHeaderMismatch || error.code == kMissingCapability)) ||
         (error.http_status == 404 && error.code == kMethodNotFound);
}

bool flag_in(const Json& capabilities, const char* of, const char* name) {
  const Json one = capabilities.is_object() ? capabilities.value(of, Json()) : Json();
  return one.is_object() && one.value(name, Json()) == true;
}

}  // namespace

Error failed(std::string_view what, const RemoteError& error) {
  return {ErrorCode::ToolFailed,
          fmt::format("mcp: {}: {} (code {})", what, shown(error.message), error.code)};
}

Result<std::shared_ptr<Client>> Client::connect(const Context& context, int from_server,
                                                int to_server, ClientOptions options) {
  auto client = std::make_shared<RemoteClient>(std::move(options));
  BAWN_TRY(client->begin(context, [&](const ClientOptions& given, OnNotification notify) {
    return Wire::open(from_server, to_server, given, std::move(notify));
  }));
  return client;
}

RemoteClient::RemoteClient(ClientOptions options)
    : options_(std::move(options)),
      list_([this](const Context& context) { return read_list(context); },
            options_.on_refresh_error),
      listening_(Context()) {}

RemoteClient::~RemoteClient() {
  close();
  list_.close();
  if (listener_.joinable()) {
    listener_.join();
  }
  channel_.reset();  // its reader tells the other members of notifications
}

Result<> RemoteClient::begin(const Context& context, const Opener& open) {
  channel_ = BAWN_TRY(open(options_, [this](const std::string& method, const Json& params) {
    notified(method, params);
  }));
  if (options_.era == EraChoice::Modern) {
    modern_ = true;
    list_changes_ = true;  // nobody asked the server what it can do
    speak(kModernVersion);
  } else if (options_.era == EraChoice::Legacy || !BAWN_TRY(probe(context))) {
    BAWN_TRY(shake_hands(context));
  }
  start_listening();
  return {};
}

void RemoteClient::close() {
  if (channel_ != nullptr) {
    channel_->close();
  }
  listening_.cancel(contract::CancelReason::Closed);
  {
    const std::scoped_lock lock(listen_mutex_);
    listen_over_ = true;
  }
  listen_changed_.notify_all();
}

RemoteClient::Clock::time_point RemoteClient::soon() const {
  return Clock::now() + options_.request_timeout;
}

void RemoteClient::speak(std::string_view version) {
  version_ = version;
  channel_->speak(version_);
}

Json RemoteClient::own_capabilities() const {
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
    members[std::string(meta::kClientCapabilities)] = own_capabilities();
  }
  if (progress) {
    members[std::string(meta::kProgressToken)] = id;
  }
  return members.empty() ? std::string() : "\"_meta\":" + contract::dump_json(members);
}

Result<RemoteAnswer> RemoteClient::ask_once(const Context& context, const Request& request) {
  return channel_->ask(context, {.method = request.method,
                                 .params =
                                     [&](const std::string& id) {
                                       const std::string with = meta_text(id, request.progress);
                                       const bool both = !with.empty() && !request.members.empty();
                                       return "{" + request.members + (both ? "," : "") + with +
                                              "}";
                                     },
                                 .deadline = request.deadline,
                                 .hooks = request.hooks,
                                 .name = request.name,
                                 .parameters = request.parameters});
}

Result<RemoteAnswer> RemoteClient::ask(const Context& context, const Request& request) {
  const std::uint64_t before = handshakes_;
  auto answer = ask_once(context, request);
  if (!answer || answer->has_value()) {
    return answer;
  }
  const RemoteError& error = answer->error();
  if (modern_ && wants_our_version(error)) {
    return ask_once(context, request);
  }
  if (!modern_ && error.session_ended && request.method != "initialize") {
    BAWN_TRY(shake_hands_again(context, before));
    return ask_once(context, request);
  }
  return answer;
}

/// True when the server is a modern one. Whatever else it does with the probe makes it an older
/// one, but for its end.
Result<bool> RemoteClient::probe(const Context& context) {
  modern_ = true;
  speak(kModernVersion);
  const auto answer = ask(
      context, {.method = "server/discover", .deadline = Clock::now() + options_.probe_timeout});
  modern_ = false;
  if (!answer) {
    speak({});
    return answer.error().code() == ErrorCode::DeadlineExceeded
               ? Result<bool>(false)
               : Result<bool>(std::unexpected(answer.error()));
  }
  if (!*answer) {
    modern_ = wants_our_version(answer->error()) || only_modern(answer->error());
    list_changes_ = modern_;
  } else {
    const Json& result = **answer;
    modern_ = result.is_object() && names_our_version(result.value("supportedVersions", Json()));
    if (modern_) {
      const Json members = result.value("_meta", Json::object());
      take_server(result, members.is_object()
                              ? members.value(std::string(meta::kServerInfo), Json())
                              : Json());
    }
  }
  if (!modern_) {
    speak({});
  }
  return modern_;
}

Result<> RemoteClient::shake_hands(const Context& context) {
  const Json params = {{"protocolVersion", kNewestLegacy},
                       {"capabilities", own_capabilities()},
                       {"clientInfo", {{"name", options_.name}, {"version", options_.version}}}};
  const std::string text = contract::dump_json(params);
  const auto answer = BAWN_TRY(ask(
      context,
      {.method = "initialize", .members = text.substr(1, text.size() - 2), .deadline = soon()}));
  if (!answer) {
    return std::unexpected(failed("initialize", answer.error()));
  }
  const Json version = answer->is_object() ? answer->value("protocolVersion", Json()) : Json();
  if (!version.is_string() || !is_legacy_version(version.get<std::string>())) {
    return fail(ErrorCode::ToolFailed, "mcp: initialize: the server speaks no revision of ours");
  }
  if (version_ != version.get<std::string>()) {
    speak(version.get<std::string>());
    take_server(*answer, answer->value("serverInfo", Json()));
  }
  ++handshakes_;
  return channel_->tell("notifications/initialized", Json::object());
}

/// The session is gone; several calls may notice it at once.
Result<> RemoteClient::shake_hands_again(const Context& context, std::uint64_t before) {
  const std::scoped_lock lock(handshake_mutex_);
  return handshakes_ == before ? shake_hands(context) : Result<>();
}

void RemoteClient::take_server(const Json& result, const Json& info) {
  server_info_ = info.is_object() ? info : Json();
  const Json words = result.value("instructions", Json());
  instructions_ = words.is_string() ? words.get<std::string>() : "";
  const Json declared = result.value("capabilities", Json());
  capabilities_ = declared.is_object() ? declared : Json::object();
  list_changes_ = flag_in(capabilities_, "tools", "listChanged");
}

void RemoteClient::notified(const std::string& method, const Json& params) {
  forget_changed(method, params);
  if (method == "notifications/tools/list_changed") {
    if (options_.on_tools_changed) {
      options_.on_tools_changed();
    }
    if (options_.follow_tools) {
      list_.changed();
    }
  } else if (method == "notifications/subscriptions/acknowledged") {
    listens();
  } else if (method == "notifications/message" && options_.log && params.is_object()) {
    options_.log("the server says: " + shown(contract::dump_json(params.value("data", Json()))));
  }
}

/// Needed for changes in the newer rules, and over HTTP for what an older server says by itself.
void RemoteClient::start_listening() {
  if (!(options_.follow_tools && list_changes_) && !(options_.elicitation && !modern_)) {
    return;
  }
  try {
    listener_ = std::thread([this] { listen(); });
  } catch (const std::system_error&) {
    list_changes_ = false;
    if (options_.log) {
      options_.log("no thread could be started: changes of the list of tools go unnoticed");
    }
    return;
  }
  // A change between the first listing and the subscription would go unnoticed.
  std::unique_lock lock(listen_mutex_);
  listen_changed_.wait_until(lock, soon(), [&] { return listens_ || listen_over_; });
}

void RemoteClient::listens() {
  {
    const std::scoped_lock lock(listen_mutex_);
    listens_ = true;
  }
  listen_changed_.notify_all();
}

void RemoteClient::listen() {
  constexpr std::chrono::milliseconds kFirstPause{1000};
  constexpr std::chrono::milliseconds kLongestPause{30'000};
  const Context& context = listening_.context();
  auto pause = kFirstPause;
  while (true) {
    const auto begun = Clock::now();
    bool offered = true;
    if (modern_) {
      const auto answer = ask(context, {.method = "subscriptions/listen",
                                        .members = R"("notifications":{"toolsListChanged":true})"});
      offered = answer ? answer->has_value() : answer.error().code() != ErrorCode::Closed;
    } else {
      const auto over = channel_->listen(context, [this] { listens(); });
      offered = over || (over.error().code() != ErrorCode::Unsupported &&
                         over.error().code() != ErrorCode::Closed);
    }
    std::unique_lock lock(listen_mutex_);
    if (!offered || listen_over_) {
      break;
    }
    // A stream that lasted was no failure.
    pause = Clock::now() - begun > kLongestPause ? kFirstPause : pause;
    listen_changed_.wait_for(lock, pause, [&] { return listen_over_; });
    if (listen_over_) {
      break;
    }
    lock.unlock();
    pause = std::min(pause * 2, kLongestPause);
    forget_tools();  // what was said meanwhile is lost
    if (options_.follow_tools) {
      list_.changed();
    }
  }
  {
    const std::scoped_lock lock(listen_mutex_);
    listen_over_ = true;
  }
  listen_changed_.notify_all();
}

void RemoteClient::settle(const Context& context, std::uint64_t seen, bool read_only) {
  if (options_.follow_tools && list_changes_) {
    list_.settle(context, seen,
                 read_only ? std::chrono::milliseconds(0) : options_.notification_grace);
  }
}

Result<std::vector<contract::ToolPtr>> RemoteClient::tools(const Context& context) {
  const auto listed = BAWN_TRY(list_.refresh(context));
  // A misspelt name must not silently lose what the host said of a tool.
  for (const RemoteToolOptions& claim : options_.tools) {
    const bool known = std::ranges::any_of(*listed, [&](const ListedTool& one) {
      return one.remote_name == claim.name || one.definition.name == claim.name;
    });
    if (!known) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("mcp: the options name the tool {}, which the server does not have",
                              shown(claim.name)));
    }
  }
  return as_tools(*listed);
}

Result<std::vector<contract::ToolPtr>> RemoteClient::await(const Context& context) {
  return as_tools(*BAWN_TRY(list_.await(context)));
}

Result<Json> RemoteClient::request(const Context& context, const std::string& method,
                                   const Json& params) {
  if (!params.is_object() || params.contains("_meta")) {
    return fail(ErrorCode::InvalidArgument, "params must be an object without _meta");
  }
  const std::string text = contract::dump_json(params);
  const Json name = params.value("name", params.value("uri", Json()));
  const auto answer =
      BAWN_TRY(ask(context, {.method = method,
                             .members = text.substr(1, text.size() - 2),
                             .deadline = soon(),
                             .name = name.is_string() ? name.get<std::string>() : ""}));
  return answer ? Result<Json>(*answer) : std::unexpected(failed(method, answer.error()));
}

std::vector<contract::ToolPtr> RemoteClient::as_tools(const ListedTools& listed) {
  std::vector<contract::ToolPtr> tools;
  for (const ListedTool& one : listed) {
    auto tool = make_remote_tool(shared_from_this(), one);
    if (tool) {
      tools.push_back(*std::move(tool));
    } else {
      drop(one.remote_name, tool.error());
    }
  }
  return tools;
}

/// Such a tool cannot be called; the others can.
void RemoteClient::drop(const std::string& name, const Error& why) const {
  if (options_.log) {
    options_.log(fmt::format("the tool {} is left out: {}", shown(name), why.message()));
  }
}

}  // namespace bawn::mcp
