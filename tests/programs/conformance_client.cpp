/// \file
/// What the official conformance suite asks of a client, on the library.
/// usage: conformance_client URL; the suite says in the environment which scenario it plays
/// (MCP_CONFORMANCE_SCENARIO) and by which revision (MCP_CONFORMANCE_PROTOCOL_VERSION).

#include "bawn/contract/elicitation.hpp"
#include "bawn/mcp/http_client.hpp"
#include "bawn/mcp/oauth.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bawn;
using contract::Json;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Session {
 public:
  explicit Session(std::shared_ptr<mcp::Client> client) : client_(std::move(client)) {}

  bool list() {
    auto tools = client_->tools(context_);
    if (!tools) {
      std::fprintf(stderr, "tools/list: %s\n", tools.error().message().c_str());
      return false;
    }
    tools_ = *std::move(tools);
    return true;
  }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  bool call(std::string_view name, const Json& arguments) const {
    const contract::ToolPtr tool = find(name);
    if (tool == nullptr) {
      std::fprintf(stderr, "there is no tool %s\n", std::string(name).c_str());
      return false;
    }
    const auto outcome =
        tool->execute(context_, {.id = "1", .args = contract::dump_json(arguments)});
    if (outcome.error) {
      std::fprintf(stderr, "%s: %s\n", std::string(name).c_str(), outcome.error->message().c_str());
    }
    return !outcome.error;
  }
  void request(const std::string& method, const Json& params) const {
    if (const auto answer = client_->request(context_, method, params); !answer) {
      std::fprintf(stderr, "%s\n", answer.error().message().c_str());
    }
  }
  /// Whatever else the server has, with what its list says.
  void read_all() const {
    for (const auto& [list, members, method, key] : std::vector<std::array<const char*, 4>>{
             {"resources/list", "resources", "resources/read", "uri"},
             {"prompts/list", "prompts", "prompts/get", "name"}}) {
      const auto listed = client_->request(context_, list, Json::object());
      for (const Json& one : listed ? (*listed).value(members, Json::array()) : Json::array()) {
        request(method, {{key, one.value(key, "")}});
      }
    }
  }
  [[nodiscard]] const std::vector<contract::ToolPtr>& tools() const { return tools_; }

 private:
  [[nodiscard]] contract::ToolPtr find(std::string_view name) const {
    const auto found = std::ranges::find_if(
        tools_, [&](const contract::ToolPtr& tool) { return tool->definition().name == name; });
    return found == tools_.end() ? nullptr : *found;
  }
  const std::shared_ptr<mcp::Client> client_;
  const contract::Context context_ = contract::with_elicitor(
      contract::Context(), [](const contract::Context&, const contract::Elicitation&) {
        return contract::Result<contract::Answer>(
            {.action = contract::AnswerAction::Accept, .content = Json::object()});
      });
  std::vector<contract::ToolPtr> tools_;
};

/// Calls what the suite names in MCP_CONFORMANCE_CONTEXT.
bool play_context(const Session& session) {
  const auto context = contract::parse_json(environment("MCP_CONFORMANCE_CONTEXT"));
  const Json calls = context && context->is_object() ? context->value("toolCalls", Json()) : Json();
  bool good = true;
  for (const Json& call : calls.is_array() ? calls : Json::array()) {
    good = session.call(call.value("name", ""), call.value("arguments", Json::object())) && good;
  }
  return good;
}

bool play(const std::string& scenario, Session& session) {
  if (!session.list()) {
    return false;
  }
  if (scenario == "initialize" || scenario == "json-schema-ref-no-deref") {
    return true;
  }
  if (scenario == "tools_call") {
    return session.call("add_numbers", {{"a", 5}, {"b", 3}});
  }
  if (scenario == "http-standard-headers") {
    for (const contract::ToolPtr& tool : session.tools()) {
      session.call(tool->definition().name, Json::object());
    }
    session.read_all();
    return true;
  }
  if (scenario == "http-custom-headers") {
    return play_context(session);
  }
  if (scenario == "http-invalid-tool-headers") {
    return session.call("valid_tool", {{"region", "us"}});
  }
  if (scenario == "json-schema-2020-12-preservation") {
    const auto& tools = session.tools();
    const auto echo = std::ranges::find_if(tools, [](const contract::ToolPtr& tool) {
      return tool->definition().name.find("echo") != std::string::npos;
    });
    const auto other = std::ranges::find_if(tools, [&](const auto& tool) { return tool != *echo; });
    return echo != tools.end() && other != tools.end() &&
           session.call(
               (*echo)->definition().name,
               {{"schema",
                 contract::parse_json(*(*other)->definition().parameters).value_or(Json())}});
  }
  // The others want each tool called once, at the same time.
  std::vector<std::future<bool>> calls;
  for (const contract::ToolPtr& tool : session.tools()) {
    calls.push_back(std::async(std::launch::async, [&session, tool] {
      return session.call(tool->definition().name, Json::object());
    }));
  }
  return std::ranges::all_of(calls, [](std::future<bool>& call) { return call.get(); });
}

/// Follows the redirect of the suite's authorization page, which asks nobody.
contract::Result<mcp::AuthorizationReturn> visit(const contract::Context&, const std::string& url) {
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(
      easy.get(), CURLOPT_WRITEFUNCTION,
      +[](char*, std::size_t, std::size_t size, void*) { return size; });
  char* location = nullptr;
  if (curl_easy_perform(easy.get()) != CURLE_OK ||
      curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &location) != CURLE_OK ||
      location == nullptr) {
    return contract::fail(contract::ErrorCode::ToolFailed, "the page led nowhere");
  }
  const std::string target = location;
  std::map<std::string, std::string> fields;
  for (std::size_t at = target.find('?'); at < target.size();) {
    const auto end = std::min(target.find('&', at + 1), target.size());
    const std::string field = target.substr(at + 1, end - at - 1);
    const auto equals = std::min(field.find('='), field.size());
    const std::string raw = field.substr(std::min(equals + 1, field.size()));
    int length = 0;
    char* const value =
        curl_easy_unescape(easy.get(), raw.c_str(), static_cast<int>(raw.size()), &length);
    fields[field.substr(0, equals)] = std::string(value, static_cast<std::size_t>(length));
    curl_free(value);
    at = end;
  }
  mcp::AuthorizationReturn came{.code = fields["code"], .state = fields["state"]};
  if (fields.contains("iss")) {
    came.issuer = fields["iss"];
  }
  return came;
}

std::shared_ptr<mcp::Authorization> authorization_for(const std::string& url) {
  const auto context = contract::parse_json(environment("MCP_CONFORMANCE_CONTEXT"));
  const Json given = context && context->is_object() ? *context : Json::object();
  mcp::OAuthOptions options{
      .fetch = visit,
      .store = std::make_shared<mcp::MemoryTokenStore>(),
      .on_save_error = [](const contract::Error&) {},
      .redirect_uri = "http://localhost:3000/callback",
      .client_id = given.value("client_id", ""),
      .client_secret = given.value("client_secret", ""),
      .metadata_document = "https://conformance-test.local/client-metadata.json",
      .registers = true};
  return mcp::oauth(url, std::move(options)).value_or(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: conformance_client URL\n");
    return 2;
  }
  const bool modern = environment("MCP_CONFORMANCE_PROTOCOL_VERSION") >= "2026-07-28";
  auto client = mcp::connect_http(contract::Context(), argv[1],
                                  {.name = "bawn-conformance-client",
                                   .version = "1.0",
                                   .era = modern ? mcp::EraChoice::Modern : mcp::EraChoice::Legacy,
                                   .elicitation = true,
                                   .log =
                                       [](std::string_view line) {
                                         std::fprintf(stderr, "%.*s\n",
                                                      static_cast<int>(line.size()), line.data());
                                       }},
                                  {.authorization = authorization_for(argv[1])});
  if (!client) {
    std::fprintf(stderr, "%s\n", client.error().message().c_str());
    return 1;
  }
  Session session(*client);
  const bool good = play(environment("MCP_CONFORMANCE_SCENARIO"), session);
  (*client)->close();
  return good ? 0 : 1;
}
