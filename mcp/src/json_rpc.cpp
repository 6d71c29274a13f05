#include "json_rpc.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

namespace bawn::mcp {
namespace {

constexpr std::string_view kHead = R"({"jsonrpc":"2.0",)";

}  // namespace

std::optional<RequestId> RequestId::from_json(const Json& value) {
  if (value.is_string()) {
    return RequestId(value.get_ref<const std::string&>());
  }
  if (value.is_number_unsigned()) {
    return RequestId(value.get<std::uint64_t>());
  }
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    // One integer has one form, however its Json was made.
    return number < 0 ? RequestId(number) : RequestId(static_cast<std::uint64_t>(number));
  }
  return std::nullopt;
}

Json RequestId::to_json() const {
  return std::visit([](const auto& value) { return Json(value); }, value_);
}

std::string result_line(const RequestId& id, const Json& result) {
  const std::string body = contract::dump_json(result);
  std::string line;
  line.reserve(body.size() + 64);
  line += kHead;
  line += "\"id\":";
  line += contract::dump_json(id.to_json());
  line += ",\"result\":";
  line += body;
  line += '}';
  return line;
}

std::string error_line(const std::optional<RequestId>& id, const RpcError& error) {
  Json message = {{"jsonrpc", "2.0"}};
  if (id) {
    message["id"] = id->to_json();
  }
  message["error"] = {{"code", static_cast<int>(error.code)}, {"message", error.message}};
  if (error.data) {
    message["error"]["data"] = *error.data;
  }
  return contract::dump_json(message);
}

std::string notification_line(std::string_view method, const Json& params) {
  return fmt::format(R"({}"method":{},"params":{}}})", kHead, contract::dump_json(Json(method)),
                     contract::dump_json(params));
}

std::string shown(std::string_view word) {
  constexpr std::size_t kShown = 64;
  return word.size() <= kShown ? contract::quote(word)
                               : contract::quote(word.substr(0, kShown)) + "…";
}

}  // namespace bawn::mcp
