#include "conformance_tools.hpp"

#include "bawn/contract/elicitation.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/progress.hpp"
#include "bawn/mcp/asking.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

namespace bawn::conformance {
namespace {

using contract::Call;
using contract::Context;
using contract::Error;
using contract::ErrorCode;
using contract::Json;
using contract::Outcome;
using contract::text_result;
using mcp::InputRequest;
using Function = std::function<Outcome(const Context&, const Json& arguments)>;

class FixtureTool final : public contract::Tool {
 public:
  FixtureTool(contract::Definition definition, Function function)
      : Tool(std::move(definition), {}), function_(std::move(function)) {}
  Outcome execute(const Context& context, const Call& call) const override {
    return function_(context, contract::parse_json(call.args).value_or(Json::object()));
  }

 private:
  Function function_;
};

contract::ToolPtr tool(const char* name, Function function,
                       std::optional<std::string> schema = std::nullopt) {
  return std::make_shared<const FixtureTool>(
      contract::Definition{.name = name,
                           .description = std::string("The suite's fixture ") + name + ".",
                           .parameters = std::move(schema)},
      std::move(function));
}

Outcome parts(std::vector<contract::Part> list) {
  return contract::parts_result(std::move(list));
}

Json text_part(const char* text) {
  return {{"type", "text"}, {"text", text}};
}
Json image_part() {
  return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}};
}
Json resource_part(const char* uri, const char* type, const char* text) {
  return {{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", type}, {"text", text}}}};
}

/// Waits about `ms`, or until the call is cancelled.
void wait(const Context& context, int ms) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, context.stop_token(), std::chrono::milliseconds(ms), [] { return false; });
}

Outcome with_progress(const Context& context, const Json&) {
  for (const int done : {0, 50, 100}) {
    contract::progress(context, done, 100);
    wait(context, 50);
  }
  return text_result("done");
}

Outcome with_logging(const Context& context, const Json&) {
  for (const auto* const text :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    mcp::log_to_client(context, mcp::LogLevel::Info, text);
    wait(context, 50);
  }
  return text_result("done");
}

InputRequest form(const char* key, const char* message, Json properties, Json required) {
  return {.key = key,
          .method = "elicitation/create",
          .params = {{"mode", "form"},
                     {"message", message},
                     {"requestedSchema",
                      {{"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", std::move(required)}}}},
          .check = [](const Json& answer) -> contract::Result<> {
            const auto action = answer.find("action");
            if (action == answer.end() || !action->is_string() ||
                (*action == "accept" && !answer.value("content", Json()).is_object())) {
              return contract::fail(ErrorCode::InvalidArgument, "not an elicitation result");
            }
            return {};
          }};
}

InputRequest name_form(const char* key = "user_name") {
  return form(key, "What is your name?", {{"name", {{"type", "string"}}}}, Json::array({"name"}));
}

InputRequest sampling(const char* key, const std::string& prompt, int tokens) {
  return {.key = key,
          .method = "sampling/createMessage",
          .params = {{"messages",
                      Json::array({Json{{"role", "user"},
                                        {"content", {{"type", "text"}, {"text", prompt}}}}})},
                     {"maxTokens", tokens}},
          .check = {}};
}

InputRequest roots(const char* key) {
  return {.key = key, .method = "roots/list", .params = Json::object(), .check = {}};
}

std::string string_at(const Json& value, const Json::json_pointer& at) {
  return value.contains(at) && value[at].is_string() ? value[at].get<std::string>() : "";
}

using Answers = std::map<std::string, Json>;

/// Asks once and makes a text of the answers.
Function asking(std::function<std::vector<InputRequest>(const Context&, const Json&)> questions,
                std::function<std::string(const Answers&)> text) {
  return [questions = std::move(questions), text = std::move(text)](
             const Context& context, const Json& arguments) -> Outcome {
    const auto answers = mcp::ask_client(context, questions(context, arguments));
    if (!answers) {
      return answers.error();
    }
    return text_result(text(*answers));
  };
}

std::string sampled(const Json& answer) {
  using namespace nlohmann::literals;
  const std::string text = string_at(answer, Json::json_pointer("/content/text"));
  return text.empty() ? string_at(answer, Json::json_pointer("/content/0/text")) : text;
}

std::string elicited(const char* what, const Json& answer) {
  return std::string(what) + "action=" + answer.value("action", "") +
         ", content=" + contract::dump_json(answer.value("content", Json::object()));
}

Outcome multi_round(const Context& context, const Json&) {
  const auto first = mcp::ask_client(context, {name_form("step1")});
  if (!first) {
    return first.error();
  }
  const auto second = mcp::ask_client(
      context,
      {form("step2", "Which color?", {{"color", {{"type", "string"}}}}, Json::array({"color"}))});
  if (!second) {
    return second.error();
  }
  return text_result(string_at(first->at("step1"), Json::json_pointer("/content/name")) +
                     " likes " +
                     string_at(second->at("step2"), Json::json_pointer("/content/color")));
}

Json enum_properties() {
  return {{"untitledSingle", {{"type", "string"}, {"enum", {"option1", "option2", "option3"}}}},
          {"titledSingle",
           {{"type", "string"},
            {"oneOf",
             {{{"const", "value1"}, {"title", "First Option"}},
              {{"const", "value2"}, {"title", "Second Option"}},
              {{"const", "value3"}, {"title", "Third Option"}}}}}},
          {"legacyEnum",
           {{"type", "string"},
            {"enum", {"opt1", "opt2", "opt3"}},
            {"enumNames", {"Option One", "Option Two", "Option Three"}}}},
          {"untitledMulti",
           {{"type", "array"},
            {"items", {{"type", "string"}, {"enum", {"option1", "option2", "option3"}}}}}},
          {"titledMulti",
           {{"type", "array"},
            {"items",
             {{"anyOf",
               {{{"const", "value1"}, {"title", "First Choice"}},
                {{"const", "value2"}, {"title", "Second Choice"}},
                {{"const", "value3"}, {"title", "Third Choice"}}}}}}}}};
}

Json default_properties() {
  return {
      {"name", {{"type", "string"}, {"default", "John Doe"}}},
      {"age", {{"type", "integer"}, {"default", 30}}},
      {"score", {{"type", "number"}, {"default", 95.5}}},
      {"status",
       {{"type", "string"}, {"enum", {"active", "inactive", "pending"}}, {"default", "active"}}},
      {"verified", {{"type", "boolean"}, {"default", true}}}};
}

void add_content_tools(std::vector<contract::ToolPtr>& tools) {
  const auto fixed = [](Outcome outcome) {
    return [outcome](const Context&, const Json&) { return outcome; };
  };
  tools.push_back(
      tool("test_simple_text", fixed(text_result("This is a simple text response for testing."))));
  tools.push_back(tool("test_image_content", fixed(parts({image_part()}))));
  tools.push_back(
      tool("test_audio_content",
           fixed(parts({Json{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}}))));
  tools.push_back(tool("test_embedded_resource",
                       fixed(parts({resource_part("test://embedded-resource", "text/plain",
                                                  "This is an embedded resource content.")}))));
  tools.push_back(
      tool("test_multiple_content_types",
           fixed(parts({text_part("Multiple content types test:"), image_part(),
                        resource_part("test://mixed-content-resource", "application/json",
                                      R"({"test":"data","value":123})")}))));
  tools.push_back(tool(
      "test_error_handling",
      fixed(Error(ErrorCode::ToolFailed, "This tool intentionally returns an error for testing"))));
  tools.push_back(tool("test_tool_with_progress", with_progress));
  tools.push_back(tool("test_tool_with_logging", with_logging));
  tools.push_back(tool("test_logging_tool", with_logging));
  tools.push_back(tool("test_streaming_elicitation", fixed(text_result("nothing to ask"))));
  tools.push_back(tool("test_x_mcp_header", fixed(text_result("ok")),
                       R"({"type":"object","properties":{"region":{"type":"string",)"
                       R"("x-mcp-header":"Region"},"level":{"type":"integer",)"
                       R"("x-mcp-header":"Level"}}})"));
  tools.push_back(tool(
      "json_schema_2020_12_tool", fixed(text_result("ok")),
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":)"
      R"({"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string")"
      R"(},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":)"
      R"("#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":)"
      R"({"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},)"
      R"({"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},)"
      R"("required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},)"
      R"("additionalProperties":false})"));
}

void add_asking_tools(std::vector<contract::ToolPtr>& tools) {
  const auto one = [](InputRequest request) {
    return [request](const Context&, const Json&) { return std::vector<InputRequest>{request}; };
  };
  tools.push_back(tool(
      "test_sampling",
      asking(
          [](const Context&, const Json& arguments) {
            return std::vector<InputRequest>{sampling("q", arguments.value("prompt", ""), 100)};
          },
          [](const Answers& answers) { return "LLM response: " + sampled(answers.at("q")); }),
      R"({"type":"object","properties":{"prompt":{"type":"string"}}})"));
  tools.push_back(
      tool("test_elicitation",
           asking(
               [](const Context&, const Json& arguments) {
                 return std::vector<InputRequest>{
                     form("q", arguments.value("message", "").c_str(),
                          {{"username", {{"type", "string"}}}, {"email", {{"type", "string"}}}},
                          Json::array({"username", "email"}))};
               },
               [](const Answers& answers) { return elicited("User response: ", answers.at("q")); }),
           R"({"type":"object","properties":{"message":{"type":"string"}}})"));
  const auto completed = [](const Answers& answers) {
    return elicited("Elicitation completed: ", answers.at("q"));
  };
  tools.push_back(
      tool("test_elicitation_sep1034_defaults",
           asking(one(form("q", "Please check", default_properties(), Json::array())), completed)));
  tools.push_back(
      tool("test_elicitation_sep1330_enums",
           asking(one(form("q", "Please choose", enum_properties(), Json::array())), completed)));
  const auto hello = [](const Answers& answers) {
    return "Hello, " + string_at(answers.at("user_name"), Json::json_pointer("/content/name")) +
           "!";
  };
  tools.push_back(tool("test_input_required_result_elicitation", asking(one(name_form()), hello)));
  tools.push_back(
      tool("test_input_required_result_tampered_state", asking(one(name_form()), hello)));
  tools.push_back(
      tool("test_input_required_result_sampling",
           asking(one(sampling("capital_question", "What is the capital of France?", 100)),
                  [](const Answers& answers) { return sampled(answers.at("capital_question")); })));
  tools.push_back(tool("test_input_required_result_list_roots",
                       asking(one(roots("client_roots")), [](const Answers& answers) {
                         return "Roots: " + contract::dump_json(answers.at("client_roots"));
                       })));
  tools.push_back(tool(
      "test_input_required_result_request_state",
      asking(one(form("confirm", "Go on?", {{"ok", {{"type", "boolean"}}}}, Json::array({"ok"}))),
             [](const Answers&) { return std::string("state-ok"); })));
  tools.push_back(tool("test_input_required_result_multiple_inputs",
                       asking(
                           [](const Context&, const Json&) {
                             return std::vector<InputRequest>{name_form(),
                                                              sampling("greeting", "Say hello", 50),
                                                              roots("client_roots")};
                           },
                           [hello](const Answers& answers) {
                             return hello(answers) + " " + sampled(answers.at("greeting")) + " " +
                                    contract::dump_json(answers.at("client_roots"));
                           })));
  tools.push_back(tool("test_input_required_result_multi_round", multi_round));
  tools.push_back(tool(
      "test_input_required_result_capabilities",
      asking(
          [](const Context& context, const Json&) {
            std::vector<InputRequest> requests;
            if (mcp::client_offers(context, "elicitation")) {
              requests.push_back(name_form());
            }
            if (mcp::client_offers(context, "sampling")) {
              requests.push_back(sampling("greeting", "Say hello", 50));
            }
            if (mcp::client_offers(context, "roots")) {
              requests.push_back(roots("client_roots"));
            }
            return requests;
          },
          [](const Answers& answers) { return std::to_string(answers.size()) + " answers"; })));
  tools.push_back(
      tool("test_missing_capability", [](const Context& context, const Json&) -> Outcome {
        if (const auto offered = mcp::require_capability(context, "sampling"); !offered) {
          return offered.error();
        }
        return text_result("sampling is there");
      }));
}

class Resources final : public contract::ResourceProvider {
 public:
  contract::Result<std::vector<contract::Resource>> list(const Context&) const override {
    return std::vector<contract::Resource>{{.uri = "test://static-text",
                                            .name = "static-text",
                                            .description = "A text.",
                                            .mime_type = "text/plain"},
                                           {.uri = "test://static-binary",
                                            .name = "static-binary",
                                            .description = "A picture.",
                                            .mime_type = "image/png"},
                                           {.uri = "test://watched-resource",
                                            .name = "watched-resource",
                                            .description = "A text that may change.",
                                            .mime_type = "text/plain"}};
  }
  std::vector<contract::ResourceTemplate> templates() const override {
    return {{.uri_template = "test://template/{id}/data",
             .name = "template",
             .description = "Data by number.",
             .mime_type = "application/json"}};
  }
  contract::Result<std::vector<contract::ResourceContents>> read(
      const Context&, const std::string& uri) const override {
    using Contents = std::vector<contract::ResourceContents>;
    constexpr std::string_view kPrefix = "test://template/";
    constexpr std::string_view kSuffix = "/data";
    if (uri == "test://static-text") {
      return Contents{{.uri = uri,
                       .mime_type = "text/plain",
                       .bytes = "This is the content of the static text resource."}};
    }
    if (uri == "test://static-binary") {
      return Contents{{.uri = uri, .mime_type = "image/png", .bytes = "\x89PNG", .text = false}};
    }
    if (uri == "test://watched-resource") {
      return Contents{{.uri = uri, .mime_type = "text/plain", .bytes = "watched"}};
    }
    if (uri.starts_with(kPrefix) && uri.ends_with(kSuffix) &&
        uri.size() > kPrefix.size() + kSuffix.size()) {
      const std::string id =
          uri.substr(kPrefix.size(), uri.size() - kPrefix.size() - kSuffix.size());
      const Json data = {{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
      return Contents{
          {.uri = uri, .mime_type = "application/json", .bytes = contract::dump_json(data)}};
    }
    if (uri == "test://broken-resource") {
      return contract::fail(ErrorCode::Internal, "the store cannot be read");
    }
    return contract::fail(ErrorCode::NotFound, "there is no such resource");
  }
};

Json user_message(Json content) {
  return {{"role", "user"}, {"content", std::move(content)}};
}

}  // namespace

std::vector<contract::ToolPtr> make_tools(const std::shared_ptr<ServerHolder>& holder) {
  std::vector<contract::ToolPtr> tools;
  add_content_tools(tools);
  add_asking_tools(tools);
  const auto trigger = [holder](mcp::ListKind kind) {
    return [holder, kind](const Context&, const Json&) -> Outcome {
      holder->server->list_changed(kind);
      return text_result("told");
    };
  };
  tools.push_back(tool("test_trigger_tool_change", trigger(mcp::ListKind::Tools)));
  tools.push_back(tool("test_trigger_prompt_change", trigger(mcp::ListKind::Prompts)));
  return tools;
}

std::shared_ptr<const contract::ResourceProvider> make_resources() {
  return std::make_shared<const Resources>();
}

std::vector<mcp::Prompt> make_prompts() {
  using Arguments = mcp::Prompt::Arguments;
  using mcp::PromptMessages;
  const auto fixed = [](std::vector<Json> messages) {
    return [messages](const Context&, const Arguments&) -> contract::Result<PromptMessages> {
      return PromptMessages{.description = "", .messages = messages};
    };
  };
  std::vector<mcp::Prompt> prompts;
  prompts.push_back(
      {.name = "test_simple_prompt",
       .description = "A text.",
       .get = fixed({user_message(text_part("This is a simple prompt for testing."))})});
  prompts.push_back(
      {.name = "test_prompt_with_arguments",
       .description = "A text with arguments.",
       .arguments = {{.name = "arg1", .description = "First", .required = true},
                     {.name = "arg2", .description = "Second", .required = true}},
       .get = [](const Context&, const Arguments& given) -> contract::Result<PromptMessages> {
         const std::string text = "Prompt with arguments: arg1='" + given.at("arg1") + "', arg2='" +
                                  given.at("arg2") + "'";
         return PromptMessages{.messages = {user_message(text_part(text.c_str()))}};
       },
       .complete =
           [](const Context&, std::string_view, std::string_view value) {
             std::vector<std::string> values;
             for (const std::string word : {"paris", "park", "party"}) {
               if (word.starts_with(value)) {
                 values.push_back(word);
               }
             }
             return values;
           }});
  prompts.push_back(
      {.name = "test_prompt_with_embedded_resource",
       .description = "A resource.",
       .arguments = {{.name = "resourceUri", .description = "Its URI", .required = true}},
       .get = [](const Context&, const Arguments& given) -> contract::Result<PromptMessages> {
         return PromptMessages{
             .messages = {user_message(resource_part(given.at("resourceUri").c_str(), "text/plain",
                                                     "Embedded resource content for testing.")),
                          user_message(text_part("Please process the embedded resource above."))}};
       }});
  prompts.push_back({.name = "test_prompt_with_image",
                     .description = "A picture.",
                     .get = fixed({user_message(image_part()),
                                   user_message(text_part("Please analyze the image above."))})});
  prompts.push_back(
      {.name = "test_input_required_result_prompt",
       .description = "Asks first.",
       .get = [](const Context& context, const Arguments&) -> contract::Result<PromptMessages> {
         const auto answers = BAWN_TRY(mcp::ask_client(
             context, {form("user_context", "In which context?",
                            {{"context", {{"type", "string"}}}}, Json::array({"context"}))}));
         const std::string text = "Context: " + string_at(answers.at("user_context"),
                                                          Json::json_pointer("/content/context"));
         return PromptMessages{.messages = {user_message(text_part(text.c_str()))}};
       }});
  return prompts;
}

}  // namespace bawn::conformance
