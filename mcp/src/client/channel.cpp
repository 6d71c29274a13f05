#include "client/channel.hpp"

namespace bawn::mcp {

RemoteAnswer answer_in(const Json& message) {
  const auto error = message.find("error");
  if (error == message.end() || !error->is_object()) {
    return message.value("result", Json());
  }
  const Json code = error->value("code", Json());
  const Json text = error->value("message", Json());
  return std::unexpected(RemoteError{.code = code.is_number_integer() ? code.get<int>() : 0,
                                     .message = text.is_string() ? text.get<std::string>() : "",
                                     .data = error->value("data", Json())});
}

}  // namespace bawn::mcp
