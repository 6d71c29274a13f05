#include "bawn/contract/result.hpp"

#include <utility>

namespace bawn::contract {

Result<Json> Details::record_json() const {
  return fail(ErrorCode::Unsupported, "these details have no recordable form");
}

ToolResult text_result(std::string text) {
  ToolResult result;
  result.output = std::move(text);
  return result;
}

ToolResult parts_result(std::vector<Part> parts) {
  ToolResult result;
  result.output = std::move(parts);
  return result;
}

ToolResult error_result(const Error& error) {
  return text_result("Error: " + error.message());
}

std::string output_text(const ToolResult& result) {
  if (const auto* const text = std::get_if<std::string>(&result.output)) {
    return *text;
  }
  std::string joined;
  std::string_view separator;
  for (const Part& part : std::get<std::vector<Part>>(result.output)) {
    const auto text = part.is_object() ? part.find("text") : part.end();
    if (part.is_object() && text != part.end() && text->is_string()) {
      joined += separator;
      joined += text->get_ref<const std::string&>();
      separator = "\n";
    }
  }
  return joined;
}

ToolResult model_result(const Outcome& outcome) {
  ToolResult result = outcome.result;
  if (outcome.error) {
    result.output = "Error: " + outcome.error->message();
  }
  return result;
}

}  // namespace bawn::contract
