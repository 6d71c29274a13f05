#include "json_rpc.hpp"

#include "bawn/contract/quote.hpp"
#include "json_text.hpp"
#include "raw_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace bawn::mcp {
std::optional<RequestId> RequestId::from_raw(std::string_view value) {
  if (auto string = string_of(value)) {
    return RequestId(*std::move(string));
  }
  const char* const end = value.data() + value.size();
  const auto parse = [&](auto number) -> std::optional<RequestId> {
    const auto read = std::from_chars(value.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(RequestId(number))
                                                     : std::nullopt;
  };
  if (value.starts_with('-')) {
    // One integer has one form.
    return value == "-0" ? RequestId(std::uint64_t{0}) : parse(std::int64_t{});
  }
  return parse(std::uint64_t{});
}

Json RequestId::to_json() const {
  return std::visit([](const auto& value) { return Json(value); }, value_);
}

void RequestId::append_to(std::string& text) const {
  if (const auto* const string = std::get_if<std::string>(&value_)) {
    append_string(text, *string);
  } else if (const auto* const number = std::get_if<std::uint64_t>(&value_)) {
    fmt::format_to(std::back_inserter(text), "{}", *number);
  } else {
    fmt::format_to(std::back_inserter(text), "{}", std::get<std::int64_t>(value_));
  }
}

std::string result_line(const RequestId& id, const Json& result) {
  std::string text;
  append_json(text, result);
  return raw_result_line(id, std::move(text));
}

std::string raw_result_line(const RequestId& id, std::string result) {
  std::string head = R"({"jsonrpc":"2.0","id":)";
  id.append_to(head);
  head += R"(,"result":)";
  // Moving a long result within its memory costs a third of copying it to new memory.
  result.insert(0, head);
  result += '}';
  return result;
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
  std::string line = R"({"jsonrpc":"2.0","method":)";
  append_string(line, method);
  line += R"(,"params":)";
  append_json(line, params);
  line += '}';
  return line;
}

std::string shown(std::string_view word) {
  constexpr std::size_t kShown = 64;
  return word.size() <= kShown ? contract::quote(word)
                               : contract::quote(word.substr(0, kShown)) + "…";
}

}  // namespace bawn::mcp
