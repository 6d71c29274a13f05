#include "wire_check.hpp"

#include "bawn/contract/json_schema.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <utility>

namespace bawn::test {
namespace {

using contract::Json;
using contract::JsonSchema;

constexpr std::string_view kModern = "2026-07-28";
constexpr const char* kClaim = "io.modelcontextprotocol/protocolVersion";

std::filesystem::path file_of(std::string_view revision) {
  // The suite has no schema of 2024-11-05, whose messages are valid under the next one too.
  return std::filesystem::path(BAWN_WIRE_SCHEMAS) /
         fmt::format("{}.json", revision == "2024-11-05" ? "2025-03-26" : revision);
}

/// One definition of a revision's schema, with all the others for its references.
JsonSchema compiled(const std::string& revision, const std::string& definition) {
  Json schema = contract::parse_json(read_file(file_of(revision))).value();
  const std::string all = schema.contains("$defs") ? "$defs" : "definitions";
  EXPECT_TRUE(schema.at(all).contains(definition)) << revision << " has no " << definition;
  schema["allOf"] = Json::array({{{"$ref", "#/" + all + "/" + definition}}});
  return JsonSchema::compile(std::move(schema)).value();
}

std::string result_definition(const std::string& method) {
  constexpr std::array<std::pair<std::string_view, const char*>, 10> kNames = {{
      {"initialize", "InitializeResult"},
      {"server/discover", "DiscoverResult"},
      {"tools/list", "ListToolsResult"},
      {"tools/call", "CallToolResult"},
      {"resources/list", "ListResourcesResult"},
      {"resources/templates/list", "ListResourceTemplatesResult"},
      {"resources/read", "ReadResourceResult"},
      {"prompts/list", "ListPromptsResult"},
      {"prompts/get", "GetPromptResult"},
      {"completion/complete", "CompleteResult"},
  }};
  for (const auto& [name, definition] : kNames) {
    if (name == method) {
      return definition;
    }
  }
  return method == "subscriptions/listen" ? "SubscriptionsListenResult" : "EmptyResult";
}

/// Whole answers have names from 2026-07-28 on, which also allow that input is required.
std::string answer_problem(const std::string& revision, const std::string& method,
                           const Json& message) {
  const std::string definition = result_definition(method);
  // The suite's schema is a little older than the published one, and has no answer to listening.
  if (revision == kModern && definition != "SubscriptionsListenResult") {
    return schema_problem(revision, definition + "Response", message);
  }
  const std::string whole = schema_problem(
      revision, revision >= "2025-11-25" ? "JSONRPCResultResponse" : "JSONRPCResponse", message);
  const std::string result = revision == kModern ? "Result" : definition;
  return whole.empty() ? schema_problem(revision, result, message.at("result")) : whole;
}

std::string error_problem(const std::string& revision, const Json& message) {
  // Nothing before 2025-11-25 has a form for the answer to what has no readable id.
  const std::string& known = message.contains("id") ? revision : std::string(kModern);
  return schema_problem(known, known >= "2025-11-25" ? "JSONRPCErrorResponse" : "JSONRPCError",
                        message);
}

std::string revision_of(const Json& message, std::string_view header, const std::string& agreed) {
  if (message.contains("params") && message["params"].is_object()) {
    const Json meta = message["params"].value("_meta", Json());
    if (meta.is_object() && meta.contains(kClaim)) {
      return std::string(kModern);  // also the answers to other claims
    }
  }
  return header.empty() || !has_schema(header) ? agreed : std::string(header);
}

}  // namespace

bool has_schema(std::string_view revision) {
  return std::filesystem::exists(file_of(revision));
}

std::string schema_problem(const std::string& revision, const std::string& definition,
                           const Json& value) {
  if (!has_schema(revision)) {
    return {};
  }
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<JsonSchema>> known;
  const JsonSchema* schema = nullptr;
  {
    const std::scoped_lock lock(mutex);
    auto& entry = known[{revision, definition}];
    if (entry == nullptr) {
      entry = std::make_unique<JsonSchema>(compiled(revision, definition));
    }
    schema = entry.get();
  }
  const auto valid = schema->validate(value);
  return valid ? std::string()
               : fmt::format("{} of {}: {}", definition, revision, valid.error().message());
}

void WireCheck::sent(std::string_view text, std::string_view header) {
  const auto message = contract::parse_json(text);
  if (!message) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (!message->is_array()) {
    note(*message, header);
    return;
  }
  for (const Json& one : *message) {
    note(one, header);
  }
}

void WireCheck::note(const Json& message, std::string_view header) {
  if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
    return;
  }
  if (!message.contains("id")) {
    if (message["method"] == "notifications/cancelled" && message.contains("params") &&
        message["params"].is_object()) {
      forget(message["params"].value("requestId", Json()));
    }
    return;
  }
  Asked asked{.method = message["method"].get<std::string>(),
              .revision = revision_of(message, header, agreed_)};
  modern_ = modern_ || asked.revision == kModern;
  asked_[contract::dump_json(message["id"])].push_back(std::move(asked));
}

/// A cancelled request is not answered.
void WireCheck::forget(const Json& id) {
  const auto found = asked_.find(contract::dump_json(id));
  if (found != asked_.end() && !found->second.empty()) {
    found->second.pop_front();
  }
}

void WireCheck::received(std::string_view text) {
  const std::string wrong = problem(text);
  EXPECT_EQ(wrong, "") << text.substr(0, 1000);
}

std::string WireCheck::problem(std::string_view text) {
  const auto message = contract::parse_json(text);
  if (!message) {
    return message.error().message();
  }
  const std::scoped_lock lock(mutex_);
  if (!message->is_array()) {
    return problem_of(*message);
  }
  std::string all;
  for (const Json& one : *message) {
    all += problem_of(one);
  }
  return all;
}

std::string WireCheck::problem_of(const Json& message) {
  if (!message.is_object()) {
    return "no object";
  }
  return message.contains("method") ? other_problem(message) : response_problem(message);
}

std::string WireCheck::response_problem(const Json& message) {
  std::deque<Asked>* const asked =
      message.contains("id") ? &asked_[contract::dump_json(message["id"])] : nullptr;
  const bool known = asked != nullptr && !asked->empty();
  if (message.contains("error")) {
    const std::string revision = known ? asked->back().revision : agreed_;
    if (known) {
      // The second request with the id of a running one is refused, and the first one goes on.
      asked->pop_back();
    }
    return error_problem(revision, message);
  }
  if (!known) {
    return "a result that nobody asked for";
  }
  const Asked request = asked->front();
  asked->pop_front();
  if (request.method == "initialize") {
    agreed_ = message.at("result").value("protocolVersion", agreed_);
    return answer_problem(agreed_, request.method, message);
  }
  return answer_problem(request.revision, request.method, message);
}

std::string WireCheck::other_problem(const Json& message) const {
  const bool asks = message.contains("id");
  std::string legacy =
      schema_problem(agreed_, asks ? "ServerRequest" : "ServerNotification", message);
  if (legacy.empty() || asks || !modern_) {
    return legacy;
  }
  return schema_problem(std::string(kModern), "ServerNotification", message);
}

}  // namespace bawn::test
