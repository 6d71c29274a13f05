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

}  // namespace bawn::contract
